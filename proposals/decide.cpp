#include "tunesmith/proposals/decide.h"

namespace tunesmith {
namespace {

/// The instruction's sampling point in this state, found by executing it on a copy.
SamplingPoint point_at(const Schedule& schedule, const Instruction& instruction) {
  Schedule copy = schedule.clone();
  copy.execute(*instruction.kind, instruction.args);
  return copy.sampling_points().back();
}

Decision decide_point(const SamplingPoint& point, const ChooseStep& choose) {
  std::vector<int64_t> decided;
  while (decided.size() < steps_of(point.domain)) {
    const SequenceStep step = next_step(point, decided);
    decided.push_back(step.choices.at(choose(step)));
  }
  return decision_of(point.domain, decided);
}

}  // namespace

tl::expected<Trace, ScheduleError> decide(const Program& program, const Trace& sketch,
                                          const std::shared_ptr<const TensorIntrinsics>& intrinsics,
                                          const ChooseStep& choose) {
  Schedule schedule(program, RandomStream(0), intrinsics);
  try {
    for (size_t i = 0; i < sketch.finishing(); ++i) {
      const Instruction& instruction = sketch[i];
      std::optional<Decision> decision;
      if (instruction.kind->sort() == InstructionSort::Sampling)
        decision = decide_point(point_at(schedule, instruction), choose);
      schedule.execute(*instruction.kind, instruction.args, decision);
    }
  } catch (const ScheduleError& error) {
    return tl::unexpected(error);
  }
  return schedule.trace();
}

tl::expected<Trace, ScheduleError> decide_by(const ChoiceLogits& logits, StepReader reader,
                                             const Program& program, const Trace& sketch,
                                             const std::shared_ptr<const TensorIntrinsics>& intrinsics,
                                             double temperature, RandomStream& random) {
  reader.begin(sketch);
  return decide(program, sketch, intrinsics, [&](const SequenceStep& step) {
    const bool open = step.choices.size() > 1;
    const size_t place = open ? draw_choice(logits(reader.choices(step)), temperature, random) : 0;
    SequenceStep taken = step;
    taken.chosen = step.choices[place];
    reader.chose(taken);
    return place;
  });
}

}  // namespace tunesmith
