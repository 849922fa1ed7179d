#include "tunesmith/lower/lower.h"

#include <fmt/format.h>

#include "lower/passes.h"

namespace tunesmith {

LowerError::LowerError(std::string_view pass, std::string_view reason, const std::string& detail)
    : Error(fmt::format("{}: {}{}{}", pass, reason, detail.empty() ? "" : ": ", detail)), reason_(reason) {}
LowerError::~LowerError() = default;

LoweredProgram lower(const Program& program, const LowerOptions& options) {
  LoweredProgram lowered{program.clone(), {}, 0};
  Program& p = lowered.program;
  BlockFacts facts = lower_blocks(p);
  split_buffers(p, facts);
  place_buffers(p, facts);
  double_buffers(p, facts);
  tighten_loops(p);
  mask_loads(p);
  mask_accumulations(p);
  flatten(p);
  call_intrinsics(p, options);
  vectorize_loops(p, options.vector_bits);
  assign_registers(p, options);
  unmask_registers(p);
  promote_accumulators(p, options);
  for (const auto& pass : options.passes) pass(p);
  plan_memory(lowered, options);
  return lowered;
}

}  // namespace tunesmith
