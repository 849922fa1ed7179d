// Attention in one launch: programs of the module fused_attention, run by the interpreter, which finds races.
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tunesmith/grid/launches.h"
#include "tunesmith/ir/printer.h"
#include "tunesmith/space/space.h"
#include "tunesmith/space/spaces_file.h"
#include "tunesmith/verification/interpreter.h"
#include "tunesmith/workload/workload.h"
#include "unit/grid/grid_machine.h"

namespace tunesmith {
namespace {

constexpr uint64_t kAttentionDraws = 3;

constexpr const char* kCausal = R"(name: causal
params: {h: 2, n: 32, keys: 64, d: 32}
inputs:
  Q: {shape: [h, n, d], dtype: f32}
  K: {shape: [h, keys, d], dtype: f32}
  V: {shape: [h, keys, d], dtype: f32}
compute: |
  S[z<h, i<n, j<keys] = sum(r<d) Q[z, i, r] * K[z, j, r]
  X[z<h, i<n, j<keys] = S[z, i, j] * 0.125
  Y[z<h, i<n, j<keys] = select(j > i + 32, -inf, X[z, i, j])
  Max[z<h, i<n] = max(j<keys) Y[z, i, j]
  E[z<h, i<n, j<keys] = exp(Y[z, i, j] - Max[z, i])
  Sum[z<h, i<n] = sum(j<keys) E[z, i, j]
  P[z<h, i<n, j<keys] = E[z, i, j] / Sum[z, i]
  O[z<h, i<n, c<d] = sum(j<keys) P[z, i, j] * V[z, j, c]
outputs: [O]
)";

/// As projections write: by token and head. Keys and values are reordered first; groups of queries share
/// them.
constexpr const char* kByToken = R"(name: by_token
params: {n: 32, keys: 64, groups: 2, d: 32}
inputs:
  Q: {shape: [n, groups, 2, d], dtype: f16}
  K: {shape: [keys, groups, d], dtype: f16}
  V: {shape: [keys, groups, d], dtype: f16}
compute: |
  KT[g<groups, r<d, j<keys] = K[j, g, r]
  S[g<groups, h<2, i<n, j<keys] = sum(r<d) f32(Q[i, g, h, r]) * f32(KT[g, r, j])
  Max[g<groups, h<2, i<n, u<1] = max(j<keys) S[g, h, i, j]
  E[g<groups, h<2, i<n, j<keys] = exp(S[g, h, i, j] - Max[g, h, i, 0])
  Sum[g<groups, h<2, i<n, u<1] = sum(j<keys) E[g, h, i, j]
  P[g<groups, h<2, i<n, j<keys] = E[g, h, i, j] / Sum[g, h, i, 0]
  W[g<groups, h<2, i<n, c<d] = sum(j<keys) P[g, h, i, j] * f32(V[j, g, c])
  O[i<n, g<groups, h<2, c<d] = f16(W[g, h, i, c])
outputs: [O]
)";

constexpr const char* kDividedLast = R"(name: divided_last
params: {n: 64, keys: 64, d: 64}
inputs:
  Q: {shape: [n, d], dtype: f32}
  K: {shape: [keys, d], dtype: f32}
  V: {shape: [keys, d], dtype: f32}
  Bias: {shape: [n, keys], dtype: f32}
compute: |
  S[i<n, j<keys] = sum(r<d) Q[i, r] * K[j, r]
  B[i<n, j<keys] = S[i, j] + Bias[i, j]
  Max[i<n] = max(j<keys) B[i, j]
  E[i<n, j<keys] = exp(B[i, j] - Max[i])
  Sum[i<n] = sum(j<keys) E[i, j]
  W[i<n, c<d] = sum(j<keys) E[i, j] * V[j, c]
  O[i<n, c<d] = W[i, c] / Sum[i]
outputs: [O]
)";

Program program_of(const std::string& text) {
  return std::move(WorkloadDefinition::parse(text, "attention.yaml").instantiate().program);
}

/// Why the module declined the block; "" where it applied.
std::string reason_of(const SketchSet& set, const std::string& block) {
  for (const ModuleEvent& event : set.events) {
    if (event.module == "fused_attention" && event.block == block)
      return event.status == ModuleResult::Status::Applied ? "" : event.reason;
  }
  return "not asked";
}

class FusedAttention : public ::testing::TestWithParam<const char*> {
 protected:
  PluginRegistry registry_;
  Space space_{SpacesFile::load(TUNESMITH_SOURCE_DIR "/spaces.yaml").space("cuda-attention"), registry_};
};

TEST_P(FusedAttention, IsOneLaunch) {
  const Program program = program_of(GetParam());
  std::vector<Tensor> wanted = test::random_arguments(program);
  interpret(program, wanted);
  const SketchSet set = space_.generate(program);
  ASSERT_EQ(set.sketches.size(), 1U);
  for (uint64_t draw = 0; draw < kAttentionDraws; ++draw) {
    const Trace sketch = set.sketches.front().trace().with_open_decisions();
    const auto candidate = space_.materialise(program, sketch, RandomStream(7, draw));
    ASSERT_TRUE(candidate) << candidate.error().message;
    const LoweredProgram& lowered = (*candidate)->lowered;
    EXPECT_EQ(launches_of(lowered.program, space_.target().execution()).size(), 1U)
        << to_string(lowered.program);
    std::vector<Tensor> got = test::random_arguments(program);
    ASSERT_NO_THROW(interpret(lowered, got)) << (*candidate)->trace.str() << to_string(lowered.program);
    EXPECT_LT(max_error(wanted.back(), got.back()), 1e-3) << (*candidate)->trace.str();
  }
}

INSTANTIATE_TEST_SUITE_P(Workloads, FusedAttention, ::testing::Values(kCausal, kByToken, kDividedLast),
                         [](const auto& one) { return fmt::format("form{}", one.index); });

TEST_F(FusedAttention, DeclinesWhatThreadsDoNotDivide) {
  std::string text = kDividedLast;
  text.replace(text.find("keys: 64"), 8, "keys: 63");
  EXPECT_EQ(reason_of(space_.generate(program_of(text)), "W"),
            "threads do not divide the rows, keys or columns");
  EXPECT_EQ(reason_of(space_.generate(program_of(kDividedLast)), "S"),
            "the block is no product of exponentials and values");
}

}  // namespace
}  // namespace tunesmith
