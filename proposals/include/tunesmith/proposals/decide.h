// Makes a sketch's decisions step by step.
#pragma once

#include <functional>

#include <tl/expected.hpp>

#include "tunesmith/proposals/prior.h"

namespace tunesmith {

/// Called for each number of each decision, with its legal choices; returns an index into
/// SequenceStep::choices.
using ChooseStep = std::function<size_t(const SequenceStep& step)>;

/// Replays the sketch on `program` with decisions by `choose`: every choice is legal given earlier ones. The
/// unexpected value is the refusal of a transformation that the decisions make illegal.
tl::expected<Trace, ScheduleError> decide(const Program& program, const Trace& sketch,
                                          const std::shared_ptr<const TensorIntrinsics>& intrinsics,
                                          const ChooseStep& choose);

/// Draws each choice with probabilities from `logits` and the temperature (draw_choice()).
tl::expected<Trace, ScheduleError> decide_by(const ChoiceLogits& logits, StepReader reader,
                                             const Program& program, const Trace& sketch,
                                             const std::shared_ptr<const TensorIntrinsics>& intrinsics,
                                             double temperature, RandomStream& random);

}  // namespace tunesmith
