#include "tunesmith/lower/lower.h"

#include <fmt/format.h>

#include "lower/passes.h"

namespace tunesmith {

LowerError::LowerError(std::string_view pass, std::string_view reason, const std::string& detail)
    : Error(fmt::format("{}: {}{}{}", pass, reason, detail.empty() ? "" : ": ", detail)), reason_(reason) {}
LowerError::~LowerError() = default;

namespace {

/// From the blocks' bodies on.
void lower_bodies(LoweredProgram& lowered, BlockFacts& facts, const LowerOptions& options) {
  Program& p = lowered.program;
  place_buffers(p, facts);
  double_buffers(p, facts);
  tighten_loops(p);
  mask_loads(p);
  mask_accumulations(p);
  flatten(p);
  call_intrinsics(p, options);
  vectorize_loops(p, options.vector_bits);
  hoist_conditions(p);
  assign_registers(p, options);
  unmask_registers(p);
  promote_accumulators(p, options);
  for (const auto& pass : options.passes) pass(p);
  plan_memory(lowered, options);
}

void lay_out_prepared(LoweredProgram& lowered) {
  Program& prepare = lowered.prepare->program;
  for (const Buffer& buffer : std::vector<Buffer>(prepare.outputs)) {
    Buffer placed = buffer;
    if (!buffer->strides.empty()) {
      // With its gaps: accesses have one index by now, and an argument has no strides.
      placed = make_buffer(buffer->name, buffer->dtype, {buffer->span()}, buffer->scope);
      prepare.swap_buffer(buffer, placed);
      lowered.program.swap_buffer(buffer, placed);
    }
    lowered.prepared.push_back({placed, lowered.prepared_bytes});
    lowered.prepared_bytes += aligned_bytes(placed);
  }
}

}  // namespace

LoweredProgram lower(const Program& program, const LowerOptions& options) {
  LoweredProgram lowered;
  lowered.program = program.clone();
  BlockFacts facts = lower_blocks(lowered.program);
  split_buffers(lowered.program, facts);
  if (options.prepare) {
    if (auto prepare = split_prepare(lowered.program, facts)) {
      lowered.prepare = std::make_unique<LoweredProgram>();
      lowered.prepare->program = std::move(*prepare);
      lower_bodies(*lowered.prepare, facts, options);
    }
  }
  lower_bodies(lowered, facts, options);
  if (lowered.prepare) lay_out_prepared(lowered);
  return lowered;
}

}  // namespace tunesmith
