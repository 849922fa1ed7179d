// A sketch's decisions, one after the other, by somebody's choice.
#pragma once

#include <functional>

#include <tl/expected.hpp>

#include "tunesmith/proposals/prior.h"

namespace tunesmith {

/// Asked for each number of each decision, with what is legal there; answers a place in its choices.
using ChooseStep = std::function<size_t(const SequenceStep& step)>;

/// The sketch, replayed on `program` and decided by `choose`: every choice is legal given those before it.
/// The error is a transformation's, which refuses what was decided before it.
tl::expected<Trace, ScheduleError> decide(const Program& program, const Trace& sketch,
                                          const std::shared_ptr<const TensorIntrinsics>& intrinsics,
                                          const ChooseStep& choose);

/// Each choice drawn as likely as `logits` say.
tl::expected<Trace, ScheduleError> decide_by(const ChoiceLogits& logits, StepReader reader,
                                             const Program& program, const Trace& sketch,
                                             const std::shared_ptr<const TensorIntrinsics>& intrinsics,
                                             double temperature, RandomStream& random);

}  // namespace tunesmith
