// Do the calls that are timed compute what the verified ones computed, anew each time, and nothing else?
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

/// The buffers of the timed calls. Their contents change at the same addresses, so that a result which is
/// kept by address, or not computed at all, is wrong; and what is written late, or beside them, shows.
class TimedCheck {
 public:
  /// Copies of the same arguments; `usual` and `other` hold data sets and what the candidate's verified calls
  /// made of them.
  struct Memory {
    ArgumentMemory& timed;
    const ArgumentMemory& usual;  // what the samples are taken on
    const ArgumentMemory& other;
  };
  /// For timing calls that each find changed contents.
  struct Changes {
    std::vector<size_t> inputs;          // that a call reads, by position
    std::optional<double> best_seconds;  // of a sample; nothing where another clock has told
    uint64_t seed = 0;
  };
  /// The timed buffers hold the usual inputs, and `prepare` is called whenever they have changed. All outlive
  /// this.
  TimedCheck(const Memory& memory, const KernelCall& call, std::function<void()> prepare,
             const ForeignThreads& threads);

  /// A call that warms; what it computes must be computed again. Answers its seconds.
  double first_call();
  /// In place of first_call(), where a call takes long: the only call is a sample.
  void begin_without_a_call();
  /// Between two samples: what was computed until now is compared and must be computed again.
  void look();
  /// After the last sample. `thoroughly`: with one more call, on the other inputs, and with calls on changes.
  /// Where there are foreign threads, inputs change again, and they are waited for until they sleep;
  /// thoroughly, for longer, as long as they live. Leaves the usual inputs.
  void end(const std::optional<Changes>& thoroughly);

  /// The first that was found.
  const std::optional<CandidateFailure>& failure() const { return failure_; }

 private:
  /// Times calls before each of which one element of each input becomes another, and one of each output is
  /// spoilt. A program that skips what it takes for done is either wrong there, or takes longer than its
  /// samples. Both hold on a busy machine, too: such calls are repeated until they are as fast as the
  /// samples.
  void call_on_changes(const Changes& changes);
  /// The usual inputs lack some elements of theirs, and get one of them before each of the calls. Answers the
  /// seconds of one.
  double calls_towards_usual(int calls, const std::vector<size_t>& inputs, RandomStream& random);
  void hold(const ArgumentMemory& contents);
  /// `otherwise`: what it says of a result that is neither missing nor that of the former contents.
  void compare(const ArgumentMemory& wanted, std::string_view otherwise = "differs from run to run");
  /// Poisoned outputs must still be poisoned when nothing runs any more; `thoroughly`, also when what sleeps
  /// has had time to wake.
  void compare_at_rest(bool thoroughly);
  void fail(FailureCause cause, const std::string& message);

  Memory memory_;
  const ArgumentMemory* held_;  // whose inputs the timed buffers hold
  const KernelCall& call_;
  std::function<void()> prepare_;
  const ForeignThreads& threads_;
  std::optional<CandidateFailure> failure_;
};

}  // namespace tunesmith
