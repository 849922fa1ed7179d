// `tune` of several workloads under one budget.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>

#include <nlohmann/json.hpp>

#include "commands.h"
#include "task_list.h"

namespace tunesmith::cli {

struct TunedMany {
  int code = 0;                           // the exit code of the tuning command
  nlohmann::json summary;                 // with Common::json
  std::map<size_t, std::string> without;  // tasks without a working program, and why
  bool here = true;                       // measured on this machine
  bool builds = true;                     // the programs can be compiled here
  uint64_t machine = 0;                   // Environment::machine() of who measured
  int threads = 1;
};

/// Tunes the tasks with progress on standard error, and prints a table of the results; prints nothing with
/// Common::json.
TunedMany tune_tasks(const Common& common, const TuneArguments& arguments, const TaskList& list,
                     const std::atomic<bool>& stop);

int run_tune_many(const Common& common, const TuneArguments& arguments, const TaskList& list,
                  const std::atomic<bool>& stop);

}  // namespace tunesmith::cli
