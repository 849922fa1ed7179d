// The workloads given to `tune`.
#pragma once

#include <string>
#include <vector>

#include <tunesmith/tuning/tune_many.h>

#include "tune_arguments.h"

namespace tunesmith::cli {

struct TaskList {
  std::vector<WeightedTask> tasks;  // equal computations are one task, with the sum of their weights
  std::vector<std::string> names;   // of each task, as written
  bool weighted = false;            // at least one weight was given
  bool many = false;                // several workloads, or a suite, were requested
};

/// Call it after checking that there is enough memory (memory.h).
WeightedTask weighted_task(Workload workload, double weight);

/// Throws UserError, also if there is not enough memory to measure one of them.
TaskList read_task_list(const TuneArguments& arguments);

}  // namespace tunesmith::cli
