// The workloads given to `tune`.
#pragma once

#include <string>
#include <vector>

#include <tunesmith/tuning/tune_many.h>

#include "tune_arguments.h"

namespace tunesmith::cli {

struct TaskList {
  std::vector<WeightedTask> tasks;  // equal computations are one, with the sum of their weights
  std::vector<std::string> names;   // of each, as written
  bool weighted = false;            // somebody gave a weight
  bool many = false;                // several workloads, or a suite, were requested
};

/// Call after checking that there is enough memory (memory.h).
WeightedTask weighted_task(Workload workload, double weight);

/// Throws UserError, also if there is not enough memory to measure one of them.
TaskList read_task_list(const TuneArguments& arguments);

}  // namespace tunesmith::cli
