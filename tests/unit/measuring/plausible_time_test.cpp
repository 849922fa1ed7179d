#include "runner/plausible_time.h"

#include <gtest/gtest.h>

#include <tunesmith/workload/library.h>
#include <tunesmith/workload/workload.h>

namespace tunesmith {
namespace {

double least_of(const std::string& definition) {
  return min_operations(WorkloadDefinition::parse(definition, "a.yaml").instantiate().program);
}

constexpr double kMargin = 8.0;

TEST(MinOperations, OfAMatrixProductAreItsTerms) {
  EXPECT_EQ(least_of(R"(name: a
params: {n: 64}
inputs:
  A: {shape: [n, n], dtype: f32}
  B: {shape: [n, n], dtype: f32}
compute: |
  C[i<n, j<n] = sum(k<n)(A[i, k] * B[k, j])
outputs: [C]
)"),
            64.0 * 64.0 * 64.0 / 8.0 / kMargin);
}

// An integer sum has a closed form that a compiler may find; and a sum of which nobody is shown all may be
// cut.
TEST(MinOperations, OfWhatMayFoldAreThoseOfStoringTheOutputs) {
  EXPECT_EQ(least_of(R"(name: a
params: {n: 64}
inputs:
  A: {shape: [n], dtype: i32}
compute: |
  C[i<n] = sum(k<n)(A[i] * A[k])
outputs: [C]
)"),
            64.0 * 4.0 / 8.0 / kMargin);
  EXPECT_EQ(least_of(R"(name: a
params: {n: 64}
inputs:
  A: {shape: [n], dtype: f32}
compute: |
  C[i<n] = sum(k<n)(A[k] * 2)
outputs: [C]
)"),
            64.0 * 4.0 / 8.0 / kMargin);
  EXPECT_EQ(least_of(R"(name: a
params: {n: 64}
inputs:
  A: {shape: [n, n], dtype: f32}
compute: |
  S[i<n] = sum(k<n)(A[i, k])
  C[i<n] = S[0] + S[i]
outputs: [C]
)"),
            64.0 * 4.0 / 8.0 / kMargin);
}

}  // namespace
}  // namespace tunesmith
