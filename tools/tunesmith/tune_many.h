// `tune` of several workloads under one budget.
#pragma once

#include "commands.h"
#include "task_list.h"

namespace tunesmith::cli {

int run_tune_many(const Common& common, const TuneArguments& arguments, TaskList list,
                  const std::atomic<bool>& stop);

}  // namespace tunesmith::cli
