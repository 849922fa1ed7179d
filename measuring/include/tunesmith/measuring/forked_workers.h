// Work in processes of its own, so that what crashes or hangs there ends nothing else: a network's library
// that is called, models that strangers wrote. Unlike the worker (worker.h) these processes are copies of
// this one and know what it knows, such as what was read before.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#pragma GCC visibility push(default)
namespace tunesmith {

struct ForkedWork {
  size_t count = 0;  // of the questions, which are answered in any order
  int processes = 1;
  double time_out_seconds = 0;  // for one answer; 0: any
  /// Runs in each process when it begins; what it returns answers questions there. UserError and
  /// EnvironmentError are thrown again in this process, and end the work.
  std::function<std::function<std::string(size_t)>()> begin;
  /// In this process, for each question once: its answer, or (`lost`) why its process has none. Another
  /// process takes the questions that are left.
  std::function<void(size_t question, const std::string& answer, bool lost)> take;
};

/// Returns when all questions are answered; with none, at once. The processes are copies of this one, which
/// must not have more than one thread: a lock that another holds would never be released in the copy. They
/// begin when there is a question for them, and have ended when this returns or throws. What `take` throws
/// ends the work, too. Throws EnvironmentError where no process can be started.
void run_forked(const ForkedWork& work);

}  // namespace tunesmith
#pragma GCC visibility pop
