// Do the calls that are timed compute what the verified ones computed, anew each time, and nothing else?
#pragma once

#include <functional>
#include <optional>

#include "tunesmith/measure/failure.h"
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
  /// After the last sample. `thoroughly`: with one more call, on the other inputs. Where there are foreign
  /// threads, inputs change again, and they are waited for until they sleep; thoroughly, for longer, as long
  /// as they live. Leaves the usual inputs.
  void end(bool thoroughly);

  /// The first that was found.
  const std::optional<CandidateFailure>& failure() const { return failure_; }

 private:
  void hold(const ArgumentMemory& contents);
  void compare(const ArgumentMemory& wanted);
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
