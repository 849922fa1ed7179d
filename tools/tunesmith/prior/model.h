// Shards and priors in files.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <tunesmith/proposals/prior.h>

namespace tunesmith::cli {

struct ReadShard {
  std::string space;
  std::string part;
  std::string machine;
  int64_t programs = 0;  // of all tasks
};

/// Calls `task` with each line behind the first. Throws UserError at the place of what is wrong.
ReadShard read_shard(const std::string& file, const std::function<void(const nlohmann::json&)>& task);

/// By their seconds where they were measured, else by their scores; the best first.
std::vector<const nlohmann::json*> programs_by_speed(const nlohmann::json& task);

/// The best `share` of a task's programs, two at least, by their seconds where they were measured, else by
/// their scores.
PriorExample example_of(const nlohmann::json& task, double share);

}  // namespace tunesmith::cli
