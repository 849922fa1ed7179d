// The workloads that `tune` is given.
#pragma once

#include <string>
#include <vector>

#include <tunesmith/tuning/tune_many.h>

#include "tune_arguments.h"

namespace tunesmith::cli {

struct TaskList {
  std::vector<WeightedTask> tasks;  // equal computations are one, with the sum of their weights
  std::vector<std::string> names;   // of each, as it was written
  bool weighted = false;            // somebody gave a weight
  bool many = false;                // more than one workload was asked for, or a suite
};

/// Whether there is memory for it is asked before (memory.h).
WeightedTask weighted_task(Workload workload, double weight);

/// Throws UserError, also where measuring one of them takes more memory than there is.
TaskList read_task_list(const TuneArguments& arguments);

}  // namespace tunesmith::cli
