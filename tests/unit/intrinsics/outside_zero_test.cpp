// Copies that put zeros where the buffer that they read has no element (TensorOperand::zero_outside).
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "intrinsics/element_place.h"
#include "tunesmith/intrinsics/intrinsic_match.h"
#include "tunesmith/ir/regions.h"
#include "tunesmith/target/extension_file.h"
#include "tunesmith/workload/workload.h"

namespace tunesmith {
namespace {

using ::testing::HasSubstr;

struct Copied {
  Buffer from = make_buffer("G", kF32, {3, 100, 50});
  Var z{"z"}, i{"i"}, k{"k"}, x{"x"}, y{"y"};
  Analyzer ranges;
  Copied() {
    ranges.bind(z, 3);
    ranges.bind(i, 2);
    ranges.bind(k, 4);
    ranges.bind(x, 64);
    ranges.bind(y, 16);
  }
  std::vector<Expr> indices() const { return {z, i * 64 + x, k * 16 + y}; }
  Expr offset() const { return z * 5000 + (i * 64 + x) * 50 + (k * 16 + y); }
  Expr inside() const { return logical_and(lt(i * 64 + x, 100), lt(k * 16 + y, 50)); }
};

TEST(OutsideZero, IsWhatAConditionSaysExactly) {
  const Copied copy;
  const auto says = [&](const Expr& condition) {
    return says_inside(condition, *copy.from, copy.indices(), copy.ranges);
  };
  const Expr row = copy.i * 64 + copy.x, column = copy.k * 16 + copy.y;
  EXPECT_TRUE(says(copy.inside()));
  EXPECT_TRUE(says(logical_and(lt(column, 50), logical_and(lt(copy.z, 3), le(row, 99)))));
  EXPECT_FALSE(says(lt(row, 100))) << "reads beyond the end of rows";
  EXPECT_FALSE(says(logical_and(lt(row, 99), lt(column, 50)))) << "leaves out a row";
  EXPECT_FALSE(says(logical_and(copy.inside(), lt(0, copy.z)))) << "leaves out a matrix";
  const std::vector<Expr> before{copy.z, row - 1, column};
  EXPECT_FALSE(says_inside(logical_and(lt(row - 1, 100), lt(column, 50)), *copy.from, before, copy.ranges))
      << "the row before the first one";
}

TEST(OutsideZero, AnOffsetHasTheIndicesOfItsCondition) {
  const Copied copy;
  const auto found = indices_at(copy.offset(), copy.inside(), *copy.from, copy.ranges);
  ASSERT_TRUE(found);
  for (size_t d = 0; d < found->size(); ++d)
    EXPECT_TRUE(copy.ranges.can_prove_equal((*found)[d], copy.indices()[d])) << d;
  EXPECT_FALSE(indices_at(copy.offset(), bool_imm(true), *copy.from, copy.ranges));
  EXPECT_FALSE(indices_at(copy.offset() + 1, copy.inside(), *copy.from, copy.ranges));
}

TEST(OutsideZero, IndicesBeyondARowAreNotThoseOfTheNext) {
  const Buffer narrow = make_buffer("G", kF32, {64, 32});
  const Var r("r"), p("p"), j("j");
  Analyzer ranges;
  ranges.bind(r, 64);
  ranges.bind(p, 2);
  ranges.bind(j, 64);
  const Expr column = p * 64 + j;
  const auto found = indices_at(r * 32 + column, lt(column, 32), *narrow, ranges);
  ASSERT_TRUE(found);
  EXPECT_TRUE(ranges.can_prove_equal((*found)[1], column));
}

TensorIntrinsicPtr fetch() {
  return ExtensionFile::parse(R"(extension: tests
description: A copy of boxes.
target: llvm
intrinsics:
  - name: outside_zero_fetch
    bulk_copy: true
    semantics: {inputs: {G: {shape: [4, 8], dtype: f32}}, compute: "S[i<4, j<8] = G[i, j]", outputs: [S]}
    operands: {G: {strides: [1n, 1], outside: zero}, S: {strides: [1n, 1]}}
    implementation: {fragment: fetch}
)",
                              "unit.yaml")
      ->intrinsics()
      .front();
}

/// Why a copy that computes this is none of the unit's; "" if it is one.
std::string refusal(const std::string& value) {
  const std::string text =
      "name: t\nparams: {n: 4}\ninputs: {G: {shape: [3, 3], dtype: f32}}\ncompute: |\n  S[i<4, j<8] = " +
      value + "\noutputs: [S]\n";
  const Program program = WorkloadDefinition::parse(text, "t.yaml").instantiate().program;
  const Block& block = *program.blocks().front();
  // The nest as tensorize() sees it: loops around the bare store.
  std::vector<IterDomain> loops;
  for (const IterVar& iter : block.iters) loops.push_back({iter.var, iter.extent});
  Program bare;
  const StmtPtr nest = bare.make_nest(loops, body_store(block)->clone());
  std::string_view why;
  const auto match = match_intrinsic(*fetch(), *store_nest(*nest), program, false, &why);
  if (!match) return std::string(why);
  EXPECT_TRUE(match->operands[1].inside);
  return "";
}

TEST(OutsideZero, ACopyIsOneIfItsConditionIsThatAnElementExists) {
  EXPECT_EQ(refusal("select(i < 3 and j < 3, G[i, j], 0)"), "");
  EXPECT_THAT(refusal("select(i < 2 and j < 3, G[i, j], 0)"), HasSubstr("not a bounds check of its buffer"));
  EXPECT_THAT(refusal("select(i < 3 and j < 3, G[i, j], 1)"), HasSubstr("computes something else"));
  EXPECT_THAT(refusal("select(i < 3 and j < 3, G[j, i], 0)"), HasSubstr("layout differs"));
}

}  // namespace
}  // namespace tunesmith
