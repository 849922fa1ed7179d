// The programs that a network's library is built of.
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
  std::vector<std::deque<CompiledKernel>> of;  // of each task, the fastest alone first; at least one
  AsWritten as_written;
  std::map<size_t, std::string> untuned = {};  // tasks with the first program, and how that was found
  std::map<const CompiledKernel*, std::string> intervals = {};  // which program is for which values
};

/// What is done about tasks without a program on record that works.
struct MissingPrograms {
  bool as_written = false;  // they get one without a schedule; else they are named in one error
  AsWritten reasons = {};   // that are known already
  bool untuned = false;     // they get the first program, or, where there is none, one without a schedule
};

/// The best `count` programs of each task that are on record. `begin` is told of each task in turn.
TaskPrograms programs_of(const TaskedNetwork& tasked, Session& session, const Space& space,
                         const ShippingOptions& options, size_t count, const MissingPrograms& missing,
                         const std::function<void(size_t task)>& begin = {});

}  // namespace tunesmith::cli
