// Runs work in child processes, so that a crash or hang there ends nothing else: calls of
// a network's library, or models from strangers. Unlike workers (worker.h), these
// processes are copies of this one and share its state, such as data that was read before.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#pragma GCC visibility push(default)
namespace tunesmith {

struct ForkedWork {
  size_t count = 0;  // number of questions, which are answered in any order
  int processes = 1;
  double time_out_seconds = 0;  // for one answer; 0: none
  /// Runs in each process at its start; the returned function answers questions.
  /// UserError and EnvironmentError are rethrown in this process and end the work.
  std::function<std::function<std::string(size_t)>()> begin;
  /// Called in this process once for each question, with its answer, or (`lost`) with
  /// the reason why the process died. Another process takes the remaining questions.
  std::function<void(size_t question, const std::string& answer, bool lost)> take;
};

/// Returns when all questions are answered. The processes are copies of this one, which must
/// have a single thread: a lock held by another thread would never be released in the copy. They
/// start when there is a question for them and have ended when this returns or throws. An
/// exception of `take` ends the work, too. Throws EnvironmentError if no process can be started.
void run_forked(const ForkedWork& work);

}  // namespace tunesmith
#pragma GCC visibility pop
