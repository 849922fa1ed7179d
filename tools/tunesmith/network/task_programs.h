// The programs from which a network's library is built.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <tunesmith/network/build_network.h>
#include <tunesmith/target/compiled_kernel.h>

#include "shipping.h"
#include "tasks.h"

namespace tunesmith::cli {

using network::AsWritten;

struct TaskPrograms {
  std::vector<std::deque<CompiledKernel>> of;  // by task, at least one; the fastest alone first
  AsWritten as_written;
  std::map<size_t, std::string> untuned = {};  // tasks that get their first program, and how that was found
  std::map<const CompiledKernel*, std::string> intervals = {};  // the program's values of extents
};

/// What to do about tasks without a working program on record.
struct MissingPrograms {
  bool as_written = false;  // give them a program without a schedule; otherwise one error names them all
  AsWritten reasons = {};   // reasons that are already known
  bool untuned = false;     // give them the first program, or an unscheduled one where there is none
};

/// The best `count` recorded programs of each task. Calls `begin` before each task.
TaskPrograms programs_of(const TaskedNetwork& tasked, Session& session, const Space& space,
                         const ShippingOptions& options, size_t count, const MissingPrograms& missing,
                         const std::function<void(size_t task)>& begin = {});

}  // namespace tunesmith::cli
