// What stands in the broker, and who is there. docs/fleet.md has the names and who needs which.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <tunesmith/measuring/turns.h>

#include "broker/connection.h"

namespace tunesmith::broker {

/// Jobs are sent here, under the key "IDENTITY.OWNER".
inline constexpr const char* kJobs = "tunesmith.jobs";
/// Whoever has their answers also has their dead letters, by "*.OWNER".
inline constexpr const char* kDeadJobs = "tunesmith.dead";
/// All workers hear what is asked here.
inline constexpr const char* kRollCall = "tunesmith.fleet";
/// Queues to which workers answer begin so: a job cannot make a worker write elsewhere.
inline constexpr const char* kAnswers = "tunesmith.answers.";
inline constexpr const char* kRollCallAnswers = "tunesmith.asks.";

std::string job_queue(const std::string& identity);
/// With its exchanges; the same from both ends, whoever comes first.
void declare_jobs(Connection& connection, const std::string& identity);
/// Of a worker: its own queue of roll calls, from which it takes as `consumer`.
void hear_roll_calls(Connection& connection, const std::string& consumer);

/// Who answers within `wait`, by identity and name; what is no description is passed over.
std::vector<WorkerDescription> call_the_roll(Connection& connection, std::chrono::milliseconds wait);

}  // namespace tunesmith::broker
