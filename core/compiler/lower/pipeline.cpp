#include "tunesmith/lower/pipeline.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "tunesmith/ir/annotation_keys.h"
#include "tunesmith/lower/passes.h"

namespace tunesmith {
namespace {

/// A step that does the same to both programs, the preparation first.
template <typename Pass>
LoweringStep each(std::string name, Pass pass, std::vector<std::string> consumes = {}) {
  return {std::move(name),
          [pass = std::move(pass)](LoweringState& state) {
            if (state.lowered.prepare) pass(*state.lowered.prepare, state);
            pass(state.lowered, state);
          },
          std::move(consumes)};
}

LowerError no_such_step(std::string_view name, const std::vector<LoweringStep>& steps) {
  std::vector<std::string> known;
  for (const LoweringStep& step : steps) known.push_back(step.name);
  return {"pipeline", "unknown lowering step", fmt::format("'{}'; {}", name, suggest(name, known))};
}

}  // namespace

LoweringState::LoweringState(const Program& program, const LowerOptions& lower_options)
    : options(lower_options), facts(std::make_unique<BlockFacts>()) {
  lowered.program = program.clone();
}
LoweringState::~LoweringState() = default;

LoweringStep program_step(std::string name, std::function<void(Program&)> pass) {
  return each(std::move(name),
              [pass = std::move(pass)](LoweredProgram& l, const LoweringState&) { pass(l.program); });
}

Pipeline::Pipeline(std::vector<LoweringStep> steps) : steps_(std::move(steps)) {}

std::vector<LoweringStep>::iterator Pipeline::find(std::string_view name) {
  const auto found = std::ranges::find(steps_, name, &LoweringStep::name);
  if (found != steps_.end()) return found;
  throw no_such_step(name, steps_);
}

void Pipeline::insert_before(std::string_view name, LoweringStep step) {
  steps_.insert(find(name), std::move(step));
}

void Pipeline::insert_after(std::string_view name, LoweringStep step) {
  steps_.insert(std::next(find(name)), std::move(step));
}

Pipeline standard_pipeline() {
  using State = LoweringState;
  using Lowered = LoweredProgram;
  return Pipeline({
      {"lower_blocks", [](State& s) { *s.facts = lower_blocks(s.lowered.program); }},
      {"split_buffers", [](State& s) { split_buffers(s.lowered.program, *s.facts); }},
      {"split_prepare", [](State& s) { split_prepare(s); }},
      each("place_buffers",
           [](Lowered& l, State& s) { place_buffers(l.program, *s.facts, s.options.execution); }),
      each("double_buffers", [](Lowered& l, State& s) { double_buffers(l.program, *s.facts); },
           {kDoubleBuffer}),
      program_step("bound_tiles", bound_tiles),
      program_step("tighten_loops", tighten_loops),
      program_step("mask_loads", mask_loads),
      program_step("mask_accumulations", mask_accumulations),
      program_step("flatten", flatten),
      each("call_intrinsics", [](Lowered& l, State& s) { call_intrinsics(l.program, s.options); }),
      each("vectorize_loops",
           [](Lowered& l, State& s) { vectorize_loops(l.program, s.options.vector_bits); }),
      program_step("hoist_conditions", hoist_conditions),
      each("assign_registers", [](Lowered& l, State& s) { assign_registers(l.program, s.options); }),
      program_step("unmask_registers", unmask_registers),
      each("promote_accumulators", [](Lowered& l, State& s) { promote_accumulators(l.program, s.options); }),
      program_step("remove_unit_loops", remove_unit_loops),
      each("plan_memory", [](Lowered& l, State& s) { plan_memory(l, s.options); }),
      {"lay_out_prepared", [](State& s) { lay_out_prepared(s.lowered); }},
  });
}

LoweringStep kernel_step(std::string_view name) {
  static const std::vector<LoweringStep> steps = standard_pipeline().steps();
  const auto found = std::ranges::find(steps, name, &LoweringStep::name);
  if (found != steps.end()) return *found;
  throw no_such_step(name, steps);
}

LoweredProgram lower(const Program& program, const LowerOptions& options, const Pipeline& pipeline,
                     const LoweringObserver& observer) {
  if (!program.parameters.empty() && !options.parameters)
    throw LowerError("lower", "the target does not support varying extents",
                     std::string(program.parameters.front().var->name));
  check_execution(program, options.execution);
  LoweringState state(program, options);
  for (const LoweringStep& step : pipeline.steps()) {
    step.run(state);
    if (observer) observer(step, state);
  }
  return std::move(state.lowered);
}

}  // namespace tunesmith
