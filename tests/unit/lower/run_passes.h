// Makes programs from the workload language, and lowers them up to a pass.
#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>

#include "tunesmith/ir/printer.h"
#include "tunesmith/lower/passes.h"
#include "tunesmith/trace/schedule.h"
#include "tunesmith/workload/workload.h"

namespace tunesmith::test {

/// `inputs`: "X: {shape: [8], dtype: f32}"; the last statement computes O.
inline Program program_of(const std::string& inputs, const std::string& compute) {
  const std::string text = fmt::format(
      "name: t\nparams: {{n: 1}}\ninputs: {{{}}}\ncompute: |\n  {}\noutputs: [O]\n", inputs, compute);
  return std::move(WorkloadDefinition::parse(text, "t.yaml").instantiate().program);
}

/// Two stages with a buffer between them.
inline const char* const kInput = "X: {shape: [8, 16], dtype: f32}";
inline const char* const kChain = "T[i<8, j<16] = exp(X[i, j])\n  O[i<8, j<16] = T[i, j] + 1";

/// C[i, j] = sum of A[i, k] * B[k, j] as O.
inline Program gmm(int64_t n, int64_t m, int64_t k) {
  return program_of(
      fmt::format("A: {{shape: [{}, {}], dtype: f32}}, B: {{shape: [{}, {}], dtype: f32}}", n, k, k, m),
      fmt::format("O[i<{}, j<{}] = sum(k<{}) A[i, k] * B[k, j]", n, m, k));
}

enum class Pass { Flatten, AssignRegisters, PromoteAccumulators };

inline LowerOptions small_machine() {
  LowerOptions options;
  options.vector_bits = 256;
  options.vector_registers = 16;
  return options;
}

inline Program lowered_to(const Program& program, Pass last, const LowerOptions& options = small_machine()) {
  Program p = program.clone();
  BlockFacts facts = lower_blocks(p);
  place_buffers(p, facts, options.execution);
  double_buffers(p, facts);
  mask_loads(p);
  mask_accumulations(p);
  flatten(p);
  if (last == Pass::Flatten) return p;
  vectorize_loops(p, options.vector_bits);
  hoist_conditions(p);
  assign_registers(p, options);
  if (last == Pass::PromoteAccumulators) promote_accumulators(p, options);
  return p;
}

/// The statements alone, without the line of inputs and outputs; begins with a line break, for goldens.
inline std::string body_text(const Program& program) {
  const std::string text = to_string(program);
  return text.substr(text.find('\n'));
}

inline std::string text_after(Pass last, const Program& program) {
  return body_text(lowered_to(program, last));
}

}  // namespace tunesmith::test
