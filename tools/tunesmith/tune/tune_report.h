// Prints what `tune` reports of a task at its end.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include <tunesmith/space/space.h>
#include <tunesmith/tuning/tuner.h>

#include "commands.h"

namespace tunesmith::cli {

nlohmann::json result_json(const TuneResult& result, const Workload& workload, const Space& space,
                           const Environment& environment);

/// Prints a summary on output(), the result first. `wanted`: the requested number of trials; 0 if there was
/// no limit.
void print_summary(const TuneResult& result, const Workload& workload, const Space& of_space, int64_t wanted,
                   const TuneArguments& arguments);

/// Prints which of the best recorded programs were not timed again, each on a line that begins with `before`.
void print_dropped(const TuneResult& result, const std::string& before);

}  // namespace tunesmith::cli
