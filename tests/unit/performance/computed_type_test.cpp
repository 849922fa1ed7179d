#include "tunesmith/performance/computed_type.h"

#include <gtest/gtest.h>

#include "tunesmith/workload/library.h"
#include "tunesmith/workload/workload.h"

namespace tunesmith {
namespace {

DType computed(const std::string& text) { return computed_type(WorkloadLibrary().load(text).program); }

/// The type for this definition.
DType computed_in(const std::string& definition) {
  return computed_type(WorkloadDefinition::parse(definition, "test.yaml").instantiate({}).program);
}

TEST(ComputedType, IsThatOfTheFactorsBeforeTheyAreWidened) {
  EXPECT_EQ(computed("gmm:dtype=f32"), kF32);
  EXPECT_EQ(computed("gmm:dtype=f64"), kF64);
  EXPECT_EQ(computed("gmm:dtype=u8,b_dtype=i8"), kU8) << "and not i32, in which it is summed";
  EXPECT_EQ(computed("gmm:dtype=i8"), kI8);
  EXPECT_EQ(computed("gmm:dtype=bf16"), kBF16);
  EXPECT_EQ(computed("gmm:dtype=i32"), kI32);
  EXPECT_EQ(computed("conv2d:dtype=i8"), kI8) << "with padding";
  EXPECT_EQ(computed("dense_bias_gelu:dtype=bf16"), kBF16);
}

TEST(ComputedType, LooksThroughZeroPointsAndNotThroughConversions) {
  const auto sum = [](const std::string& other_inputs, const std::string& terms) {
    return "name: p\ninputs:\n  A: {shape: [4, 8], dtype: u8}\n" + other_inputs +
           "compute: |\n  C[i<4, j<4] = sum(r<8) " + terms + "\noutputs: [C]\n";
  };
  EXPECT_EQ(computed_in(sum("  B: {shape: [8, 4], dtype: i8}\n  Z: {shape: [1], dtype: u8}\n",
                            "(i32(A[i, r]) - i32(Z[0])) * i32(B[r, j])")),
            kU8);
  EXPECT_EQ(computed_in(sum("  X: {shape: [8, 4], dtype: f32}\n", "f32(A[i, r]) * X[r, j]")), kF32)
      << "weights of bytes, multiplied as floats";
  EXPECT_EQ(computed_in(sum("  B: {shape: [8, 4], dtype: i32}\n", "(i32(A[i, r]) + B[r, j])")), kI32)
      << "no product";
}

TEST(ComputedType, IsThatOfTheHeaviestStatement) {
  EXPECT_EQ(computed_in("name: p\ninputs:\n  A: {shape: [64, 64], dtype: i8}\n"
                        "compute: |\n"
                        "  S[i<64, j<64] = sum(r<64) i32(A[i, r]) * i32(A[r, j])\n"
                        "  C[i<64, j<64] = f32(S[i, j]) * 0.5\noutputs: [C]\n"),
            kI8);
}

TEST(ComputedType, OfIntegersIsCountedInOperations) {
  EXPECT_EQ(operations_unit(kF32), "GFLOP/s");
  EXPECT_EQ(operations_unit(kBF16), "GFLOP/s");
  EXPECT_EQ(operations_unit(kU8), "GOP/s");
}

}  // namespace
}  // namespace tunesmith
