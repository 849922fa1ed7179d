// The programs that a network's library is built of.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <tunesmith/target/compiled_kernel.h>

#include "network_tasks.h"
#include "shipping.h"

namespace tunesmith::cli {

/// Tasks whose program has no schedule (positions in TaskedNetwork::tasks), each with the reason.
using AsWritten = std::map<size_t, std::string>;

struct TaskPrograms {
  std::vector<std::deque<CompiledKernel>> of;  // of each task, the fastest alone first; at least one
  AsWritten as_written;
};

/// What is done about tasks without a program on record that works.
struct MissingPrograms {
  bool as_written = false;  // they get one without a schedule; else they are named in one error
  AsWritten reasons = {};   // that are known already
};

/// The best `count` programs of each task that are on record. `begin` is told of each task in turn.
TaskPrograms programs_of(const TaskedNetwork& tasked, Session& session, const Space& space,
                         const ShippingOptions& options, size_t count, const MissingPrograms& missing,
                         const std::function<void(size_t task)>& begin = {});

}  // namespace tunesmith::cli
