#include "corners.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tunesmith/workload/workload.h"

namespace tunesmith::conformance {
namespace {

Program program(const std::string& types) {
  return WorkloadDefinition::parse("name: product\ninputs: " + types +
                                       "\ncompute: |\n  C[i<2] = i32(A[i]) * i32(B[i])\noutputs: [C]\n",
                                   "product.yaml")
      .instantiate()
      .program;
}

TEST(Corners, HaveEachInputAtEitherEndOfItsType) {
  const Program product = program("{A: {shape: [2], dtype: u8}, B: {shape: [2], dtype: i8}}");
  ASSERT_EQ(corners_of(product), 4U);
  std::vector<std::string> texts;
  for (size_t corner = 0; corner < 4; ++corner) texts.push_back(corner_text(product, corner));
  EXPECT_THAT(texts, ::testing::UnorderedElementsAre("A of 255, B of 127", "A of 0, B of 127",
                                                     "A of 255, B of -128", "A of 0, B of -128"));
  std::vector<Tensor> arguments = corner_of(product, 0);
  interpret(product, arguments);
  EXPECT_EQ(arguments.back().get_int(1), 255 * 127);
  EXPECT_EQ(arguments[0].get_int(0), arguments[0].get_int(1));
}

TEST(Corners, ReachTheWidestIntegers) {
  const Program product = program("{A: {shape: [2], dtype: i64}, B: {shape: [2], dtype: i32}}");
  EXPECT_EQ(corner_text(product, 0), "A of 9223372036854775807, B of 2147483647");
  EXPECT_EQ(corner_text(product, 3), "A of -9223372036854775808, B of -2147483648");
}

TEST(Corners, AreOfIntegersAlone) {
  EXPECT_EQ(corners_of(program("{A: {shape: [2], dtype: f32}, B: {shape: [2], dtype: i8}}")), 0U);
}

}  // namespace
}  // namespace tunesmith::conformance
