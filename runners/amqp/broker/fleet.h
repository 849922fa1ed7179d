// The broker's exchanges and queues, and the workers that are present (docs/fleet.md).
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <tunesmith/measuring/turns.h>

#include "broker/connection.h"

namespace tunesmith::broker {

/// The exchange for jobs; keys are "IDENTITY.OWNER".
inline constexpr const char* kJobs = "tunesmith.jobs";
/// The exchange for dead jobs; the queue of their owner's answers takes them by "*.OWNER".
inline constexpr const char* kDeadJobs = "tunesmith.dead";
/// The exchange for questions to all workers.
inline constexpr const char* kRollCall = "tunesmith.fleet";
/// The prefix of queues for answers: a job cannot make a worker write to other queues.
inline constexpr const char* kAnswers = "tunesmith.answers.";
inline constexpr const char* kRollCallAnswers = "tunesmith.asks.";

std::string job_queue(const std::string& identity);
/// Declares the jobs' queue and exchanges; owners and workers declare the same, in any order.
void declare_jobs(Connection& connection, const std::string& identity);
/// Declares a worker's own queue for roll calls, and takes from it as `consumer`.
void hear_roll_calls(Connection& connection, const std::string& consumer);

/// The workers that answer within `wait`, sorted by identity and name. Ignores answers that are no
/// descriptions.
std::vector<WorkerDescription> call_the_roll(Connection& connection, std::chrono::milliseconds wait);

}  // namespace tunesmith::broker
