#include "tunesmith/grid/steps.h"

#include "passes.h"
#include "tunesmith/ir/annotation_keys.h"

namespace tunesmith::grid {

LoweringStep join_threads() {
  return {"join_threads", [](LoweringState& state) {
            tunesmith::join_threads(state.lowered.program, *state.facts, state.options);
          }};
}

LoweringStep pipeline_loops() {
  return {"pipeline_loops",
          [](LoweringState& state) {
            tunesmith::pipeline_loops(state.lowered.program, *state.facts, state.options);
          },
          {kSoftwarePipeline}};
}

LoweringStep close_gaps() { return program_step("close_gaps", tunesmith::close_gaps); }

LoweringStep plan_scopes() {
  return {"plan_scopes", [](LoweringState& state) {
            if (state.lowered.prepare) tunesmith::plan_scopes(*state.lowered.prepare, state.options);
            tunesmith::plan_scopes(state.lowered, state.options);
          }};
}

}  // namespace tunesmith::grid
