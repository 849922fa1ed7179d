#include "worker/timed_check.h"

#include <chrono>
#include <utility>

#include <fmt/format.h>

namespace tunesmith {
namespace {

/// How long a thread may sleep that writes after a call has returned, and be found out.
constexpr std::chrono::milliseconds kLateWrites{100};

}  // namespace

TimedCheck::TimedCheck(const Memory& memory, const KernelCall& call, std::function<void()> prepare,
                       const ForeignThreads& threads)
    : memory_(memory), held_(&memory.usual), call_(call), prepare_(std::move(prepare)), threads_(threads) {}

void TimedCheck::fail(FailureCause cause, const std::string& message) {
  if (!failure_) failure_ = CandidateFailure{cause, message};
}

void TimedCheck::hold(const ArgumentMemory& contents) {
  held_ = &contents;
  memory_.timed.take_inputs(contents);
  memory_.timed.poison_outputs(kPoisonNaN);
  prepare_();
}

void TimedCheck::compare(const ArgumentMemory& wanted) {
  if (const Argument* argument = memory_.timed.touched_around())
    fail(FailureCause::OutOfBounds, fmt::format("wrote outside of {}", argument->buffer->name));
  const Argument* const different = memory_.timed.differs_from(wanted);
  if (different == nullptr) return;
  const std::string& name = different->buffer->name;
  const ArgumentMemory& former = &wanted == &memory_.usual ? memory_.other : memory_.usual;
  if (memory_.timed.written_over(kPoisonNaN) == nullptr) {
    fail(FailureCause::WrongResult, fmt::format("{} was not written by a call that was timed", name));
  } else if (memory_.timed.differs_from(former) == nullptr) {
    fail(FailureCause::WrongResult, fmt::format("{} is that of the inputs' former contents", name));
  } else {
    fail(FailureCause::WrongResult, fmt::format("{} differs from run to run", name));
  }
}

double TimedCheck::first_call() {
  const double seconds = time_call(call_);
  memory_.timed.poison_outputs(kPoisonNaN);
  return seconds;
}

void TimedCheck::begin_without_a_call() {
  // What accumulates shows on numbers, too, not only on poison.
  memory_.timed.take_outputs(memory_.other);
}

void TimedCheck::look() {
  compare(memory_.usual);
  memory_.timed.poison_outputs(kPoisonNaN);
}

void TimedCheck::end(bool thoroughly) {
  compare(memory_.usual);
  if (thoroughly && !failure_) {
    hold(memory_.other);
    time_call(call_);
    compare(memory_.other);
  }
  // Only another thread reads or writes after a call has returned.
  if (!failure_ && !threads_.now().empty()) {
    hold(thoroughly ? memory_.usual : memory_.other);
    compare_at_rest(thoroughly);
  }
  if (held_ != &memory_.usual) memory_.timed.take_inputs(memory_.usual);
}

void TimedCheck::compare_at_rest(bool thoroughly) {
  if (!threads_.come_to_rest()) {
    fail(FailureCause::ProcessState,
         fmt::format("a thread that it has started runs for more than {} ms after a call has returned",
                     kMaxAwakeMilliseconds));
  }
  if (thoroughly && !failure_) threads_.outlast(kLateWrites);
  if (const Argument* changed = memory_.timed.written_over(kPoisonNaN))
    fail(FailureCause::WrongResult,
         fmt::format("{} is written after the call has returned", changed->buffer->name));
}

}  // namespace tunesmith
