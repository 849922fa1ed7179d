// Checks that each timed call recomputes the verified results and writes nothing else.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "tunesmith/measure/failure.h"
#include "tunesmith/support/random.h"
#include "worker/argument_memory.h"
#include "worker/foreign_threads.h"
#include "worker/time_kernel.h"

namespace tunesmith {

/// The buffers of the timed calls. Their contents change at constant addresses, so that results cached
/// by address, or not computed, are wrong; late writes and writes beside the buffers are detected.
class TimedCheck {
 public:
  /// Copies of the same arguments; `usual` and `other` hold data
  /// sets and the results of the candidate's verified calls.
  struct Memory {
    ArgumentMemory& timed;
    const ArgumentMemory& usual;  // for the samples
    const ArgumentMemory& other;
  };
  /// For timing calls that each find changed contents.
  struct Changes {
    std::vector<size_t> inputs;          // positions of those that a call reads
    std::optional<double> best_seconds;  // of a sample; nothing if another clock is used
    uint64_t seed = 0;
  };
  /// The timed buffers hold the usual inputs, and `prepare` is called whenever they have changed. All outlive
  /// this.
  TimedCheck(const Memory& memory, const KernelCall& call, std::function<void()> prepare,
             const ForeignThreads& threads);

  /// A warming call, whose results must be computed again. Returns its seconds.
  double first_call();
  /// Instead of first_call() if a call takes long: the only call is a sample.
  void begin_without_a_call();
  /// Between two samples: compares the results so far, which must be computed again.
  void look();
  /// After the last sample. `thoroughly`: with one more call on the other inputs, and
  /// calls on changes. If there are foreign threads, inputs change again and it waits
  /// until they sleep; with `thoroughly` longer, until they end. Leaves the usual inputs.
  void end(const std::optional<Changes>& thoroughly);

  /// The first that was found.
  const std::optional<CandidateFailure>& failure() const { return failure_; }

 private:
  /// Times calls before each of which one element of each input changes and
  /// one of each output is spoilt. A program that skips its work is either
  /// wrong there or slower than its samples. Also valid on a busy machine:
  /// such calls are repeated until they are as fast as the samples.
  void call_on_changes(const Changes& changes);
  /// Removes some elements of the usual inputs and restores
  /// one before each call. Returns the seconds of a call.
  double calls_towards_usual(int calls, const std::vector<size_t>& inputs, RandomStream& random);
  void hold(const ArgumentMemory& contents);
  /// `otherwise`: the message for a result that is neither missing nor that of the previous contents.
  void compare(const ArgumentMemory& wanted, std::string_view otherwise = "differs from run to run");
  /// Poisoned outputs must stay poisoned after all threads are at rest; with
  /// `thoroughly`, also after sleeping threads have had time to wake up.
  void compare_at_rest(bool thoroughly);
  void fail(FailureCause cause, const std::string& message);

  Memory memory_;
  const ArgumentMemory* held_;  // the owner of the inputs in the timed buffers
  const KernelCall& call_;
  std::function<void()> prepare_;
  const ForeignThreads& threads_;
  std::optional<CandidateFailure> failure_;
};

}  // namespace tunesmith
