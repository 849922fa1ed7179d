// Reads shards and priors from files.
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
  int64_t programs = 0;  // the sum over the tasks
};

/// Calls `task` for each line after the first. Throws UserError with the location of a fault.
ReadShard read_shard(const std::string& file, const std::function<void(const nlohmann::json&)>& task);

/// The task's programs in order, best first: by measured seconds if there are any, else by score.
std::vector<const nlohmann::json*> programs_by_speed(const nlohmann::json& task);

/// The best `share` of a task's programs, at least two, in the order of programs_by_speed().
PriorExample example_of(const nlohmann::json& task, double share);

}  // namespace tunesmith::cli
