#include "worker/timed_check.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "tunesmith/support/monotonic_clock.h"

namespace tunesmith {
namespace {

/// A thread that sleeps for less than this after a call has returned, and then writes, is detected.
constexpr std::chrono::milliseconds kLateWrites{100};
/// The number of rounds of calls on changed contents, unless they take long:
/// enough for a program that looks at a few elements to miss a changed one.
constexpr int kRounds = 3;
constexpr double kRoundsSeconds = 5e-3;
/// The allowed slowdown of such a call relative to a sample, and the addition
/// per buffer, for writing an element that may be in another core's cache.
constexpr double kSlower = 4.0;
constexpr double kChangeSeconds = 100e-9;
/// The number of rounds, and the time, in which one of them may wait for a quiet moment.
constexpr int kPatientRounds = 20;
constexpr double kPatientSeconds = 0.4;
constexpr int kMaxCalls = 1000;  // per round

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

void TimedCheck::compare(const ArgumentMemory& wanted, std::string_view otherwise) {
  if (const Argument* argument = memory_.timed.touched_around())
    fail(FailureCause::OutOfBounds, fmt::format("wrote outside of {}", argument->buffer->name));
  const Argument* const different = memory_.timed.differs_from(wanted);
  if (different == nullptr) return;
  const std::string& name = different->buffer->name;
  const ArgumentMemory& former = &wanted == &memory_.usual ? memory_.other : memory_.usual;
  if (memory_.timed.written_over(kPoisonNaN) == nullptr) {
    fail(FailureCause::WrongResult, fmt::format("{} was not written by a timed call", name));
  } else if (memory_.timed.differs_from(former) == nullptr) {
    fail(FailureCause::WrongResult, fmt::format("{} depends on former contents of the inputs", name));
  } else {
    fail(FailureCause::WrongResult, fmt::format("{} {}", name, otherwise));
  }
}

double TimedCheck::first_call() {
  const double seconds = time_call(call_);
  memory_.timed.poison_outputs(kPoisonNaN);
  return seconds;
}

void TimedCheck::begin_without_a_call() {
  // Accumulation shows on numbers, not only on poison.
  memory_.timed.take_outputs(memory_.other);
}

void TimedCheck::look() {
  compare(memory_.usual);
  memory_.timed.poison_outputs(kPoisonNaN);
}

double TimedCheck::calls_towards_usual(int calls, const std::vector<size_t>& inputs, RandomStream& random) {
  struct Change {
    size_t position;
    int64_t element;
    bool output;
  };
  ArgumentMemory& timed = memory_.timed;
  std::vector<Change> changes;
  for (int i = 0; i < calls; ++i) {
    const auto draw = [&](size_t position, bool output) {
      const auto elements = static_cast<uint64_t>(timed.argument(position).buffer->elements());
      changes.push_back({position, static_cast<int64_t>(random.below(elements)), output});
    };
    for (const size_t position : inputs) draw(position, false);
    for (size_t position = 0; position < timed.size(); ++position)
      if (timed.argument(position).output) draw(position, true);
  }
  timed.protect_inputs(false);
  for (const Change& change : changes)
    if (!change.output) timed.take_element(change.position, change.element, memory_.other);
  call_();
  const size_t each = changes.size() / static_cast<size_t>(calls);
  const double begin = now_seconds();
  for (auto change = changes.begin(); change != changes.end();) {
    for (const auto end = change + static_cast<std::ptrdiff_t>(each); change != end; ++change) {
      if (change->output) {
        timed.spoil_element(change->position, change->element, memory_.usual);
      } else {
        timed.take_element(change->position, change->element, memory_.usual);
      }
    }
    call_();
  }
  const double seconds = (now_seconds() - begin) / calls;
  timed.protect_inputs();
  return seconds;
}

void TimedCheck::call_on_changes(const Changes& changes) {
  RandomStream random(changes.seed);
  const double best = changes.best_seconds.value_or(kSampleSeconds);
  const int calls =
      std::clamp(static_cast<int>(std::ceil(kSampleSeconds / std::max(best, 1e-8))), 1, kMaxCalls);
  const double most = changes.best_seconds
                          ? kSlower * best + kChangeSeconds * static_cast<double>(memory_.timed.size())
                          : std::numeric_limits<double>::infinity();
  const double begin = now_seconds();
  double least = std::numeric_limits<double>::infinity();
  for (int round = 1; !failure_; ++round) {
    least = std::min(least, calls_towards_usual(calls, changes.inputs, random));
    compare(memory_.usual, "is not recomputed by each timed call");
    const double spent = now_seconds() - begin;
    if (least <= most) {
      if (round >= kRounds || spent >= kRoundsSeconds) return;
    } else if (round >= kPatientRounds && spent >= kPatientSeconds) {
      fail(FailureCause::ImplausibleTime,
           fmt::format("a call takes {:.2g} s, but {:.2g} s when its inputs have changed", best, least));
    }
  }
}

void TimedCheck::end(const std::optional<Changes>& thoroughly) {
  compare(memory_.usual);
  if (thoroughly && !failure_) {
    hold(memory_.other);
    time_call(call_);
    compare(memory_.other);
  }
  // Only another thread reads or writes after a call has returned.
  if (!failure_ && !threads_.now().empty()) {
    hold(thoroughly ? memory_.usual : memory_.other);
    compare_at_rest(thoroughly.has_value());
  }
  if (thoroughly && !failure_) {
    if (held_ != &memory_.usual) hold(memory_.usual);
    call_on_changes(*thoroughly);
  }
  if (held_ != &memory_.usual) memory_.timed.take_inputs(memory_.usual);
}

void TimedCheck::compare_at_rest(bool thoroughly) {
  if (!threads_.come_to_rest()) {
    fail(FailureCause::ProcessState,
         fmt::format("a thread it started runs for more than {} ms after the call returned",
                     kMaxAwakeMilliseconds));
  }
  if (thoroughly && !failure_) threads_.outlast(kLateWrites);
  if (const Argument* changed = memory_.timed.written_over(kPoisonNaN))
    fail(FailureCause::WrongResult,
         fmt::format("{} is written after the call returned", changed->buffer->name));
}

}  // namespace tunesmith
