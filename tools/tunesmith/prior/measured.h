// Evaluates orders of measured tasks' programs: how fast are the first ones?
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <tunesmith/proposals/prior.h>

namespace tunesmith::cli {

/// The cost model's score, the prior's likelihood, and the sum of both, standardised.
inline constexpr size_t kOrders = 3;
inline constexpr std::array<const char*, kOrders> kOrderNames = {"cost_model", "prior", "both"};
/// How many programs of the draws are timed: the first ones by the order.
inline constexpr std::array<size_t, 2> kTimed = {1, 10};

/// For one task and number of draws among its measured programs: the mean logarithm of the speed of the
/// fastest timed program, relative to the task's fastest program.
struct MeasuredFigure {
  std::string workload;
  int64_t draws = 0;
  std::array<std::array<double, kTimed.size()>, kOrders> log_speeds{};
};

bool is_measured_task(const nlohmann::json& task);
/// `task`: a line of a shard. Deterministic.
std::vector<MeasuredFigure> measured_figures(const Prior& prior, const nlohmann::json& task,
                                             const std::vector<int64_t>& draws);

void print_measured(const std::vector<MeasuredFigure>& figures, const std::vector<int64_t>& draws);
nlohmann::json measured_json(const std::vector<MeasuredFigure>& figures);

}  // namespace tunesmith::cli
