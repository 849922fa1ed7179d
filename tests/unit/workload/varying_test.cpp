// Parameters with a range: extents that each call gives.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tunesmith/ir/extents.h>
#include <tunesmith/ir/parser.h>
#include <tunesmith/ir/printer.h>
#include <tunesmith/ir/visit.h>
#include <tunesmith/verification/verified_values.h>
#include <tunesmith/workload/library.h>

#include "unit/workload/parse.h"

namespace tunesmith {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kRows =
    "name: rows\n"
    "params: {n: 6, m: 8}\n"
    "inputs:\n"
    "  X: {shape: [n, m], dtype: f32}\n"
    "compute: |\n"
    "  P[i<n + 2, j<m] = inside(X[i - 1, j], 0)\n"
    "  O[i<n, j<m] = P[i, j] + P[i + 2, j]\n"
    "outputs: [O]\n";

TEST(VaryingExtents, AreParametersOfTheProgram) {
  const Workload workload = workload_of(kRows, {{"n", "1..20"}});
  EXPECT_EQ(workload.key, "rows:n=1..20,m=8");
  EXPECT_THAT(
      to_string(workload.program),
      HasSubstr("program rows[1 <= n <= 20](X: f32[20, 8] extents [n, 8]) -> (O: f32[20, 8] extents [n, 8])\n"
                "  intermediate P: f32[22, 8] extents [n + 2, 8]\n"));
  const std::string text = to_string(workload.program);
  EXPECT_EQ(to_string(parse_program(text)), text);
  EXPECT_EQ(structural_hash(parse_program(text)), workload.hash);
}

TEST(VaryingExtents, AreOtherProgramsThanFixedOnesAndThoseOfOtherRanges) {
  const uint64_t hash = workload_of(kRows, {{"n", "1..20"}}).hash;
  EXPECT_NE(hash, workload_of(kRows, {{"n", "20"}}).hash);
  EXPECT_NE(hash, workload_of(kRows, {{"n", "2..20"}}).hash);
  EXPECT_EQ(hash, workload_of(kRows, {{"n", "1..20:typical=3,7"}}).hash);
  EXPECT_EQ(workload_of(kRows, {{"n", "7..7"}}).hash, workload_of(kRows, {{"n", "7"}}).hash);
}

TEST(VaryingExtents, AreFixedAtValues) {
  const Workload workload = workload_of(kRows, {{"n", "1..20"}});
  const Workload fixed = at_values(workload, std::vector<int64_t>{7});
  EXPECT_EQ(fixed.hash, workload_of(kRows, {{"n", "7"}}).hash);
  EXPECT_THAT(extents_at(*workload.program.intermediates[0], workload.program, std::vector<int64_t>{7}),
              ElementsAre(9, 8));
}

TEST(VaryingExtents, OfProgramsWithoutATextAreNotFixed) {
  Workload workload = workload_of(kRows, {{"n", "1..20"}});
  workload.definition.clear();
  EXPECT_THROW(at_values(workload, std::vector<int64_t>{7}), UserError);
}

TEST(VaryingExtents, AreMeasuredAtTypicalValues) {
  const auto typical = [](const char* range) {
    return typical_values(workload_of(kRows, {{"n", range}}).program);
  };
  EXPECT_THAT(typical("1..512"), ElementsAre(ElementsAre(512), ElementsAre(128), ElementsAre(32)));
  EXPECT_THAT(typical("1..2"), ElementsAre(ElementsAre(2), ElementsAre(1)));
  EXPECT_THAT(typical("1..512:typical=384,128"), ElementsAre(ElementsAre(384), ElementsAre(128)));
  const Workload one = WorkloadLibrary().load("gmm:n=1..64:typical=16,m=8,k=4");
  EXPECT_DOUBLE_EQ(one.flops, WorkloadLibrary().load("gmm:n=16,m=8,k=4").flops);
}

TEST(VaryingExtents, AreRankedAtFurtherValues) {
  const auto ranked = [](const char* range) {
    std::vector<int64_t> values;
    for (const auto& each : ranked_values(workload_of(kRows, {{"n", range}}).program))
      values.push_back(each.front());
    return values;
  };
  EXPECT_THAT(ranked("1..512"), ElementsAre(512, 128, 32, 8, 2, 1));
  EXPECT_THAT(ranked("1..16"), ElementsAre(16, 4, 1, 8, 2));
  EXPECT_THAT(ranked("1..512:typical=384,100"), ElementsAre(384, 100, 512, 128, 32, 8, 2, 1));
  EXPECT_THAT(ranked("500..512"), ElementsAre(512, 500));
  EXPECT_THAT(ranked_values(workload_of(kRows, {{"n", "6"}}).program), ElementsAre(ElementsAre()));
}

TEST(VaryingExtents, OfTextsWithSeveralTypicalValues) {
  EXPECT_EQ(WorkloadLibrary().load("gmm:n=1..64:typical=8,16,m=3,k=3").key,
            "gmm:b=1,n=1..64:typical=8,16,m=3,k=3,dtype=f32,constant_b=0");
}

std::string refused_range(const std::string& range) { return error_of(kRows, {{"n", range}}); }

TEST(VaryingExtents, AreRefusedByName) {
  EXPECT_EQ(
      refused_range("0..8"),
      "parameter 'n' of rows: '0..8' is not a range of extents; expected LOWEST..HIGHEST, from 1 to 2^34");
  EXPECT_THAT(refused_range("8..2"), HasSubstr("'8..2' is not a range of extents"));
  EXPECT_EQ(refused_range("1..x"), "expected an integer for parameter 'n' of rows, found 'x'");
  EXPECT_THAT(refused_range("1..8:typical=9"), HasSubstr("9 is not a typical value"));
}

TEST(VaryingExtents, MayBeInnerOnes) {
  const Workload workload = workload_of(kRows, {{"m", "1..8"}});
  EXPECT_TRUE(is_packed(workload.program, workload.program.inputs[0]));
  EXPECT_FALSE(is_packed(workload.program, workload.program.intermediates[0]));
  EXPECT_TRUE(stride_varies(*workload.program.inputs[0], 0));
  EXPECT_FALSE(stride_varies(*workload.program.inputs[0], 1));
  EXPECT_FALSE(is_packed(workload_of(kRows, {{"n", "1..8"}}).program, workload.program.inputs[0]));
}

/// Places that are the same for all values, which an argument without strides has not.
TEST(VaryingExtents, LieAtStridesThatAreGiven) {
  const std::string rows = std::string(kRows) + "strides: {X: [8, 1]}\n";
  const Workload workload = workload_of(rows, {{"m", "1..8"}});
  EXPECT_FALSE(is_packed(workload.program, workload.program.inputs[0]));
  EXPECT_TRUE(is_packed(workload.program, workload.program.outputs[0]));
  EXPECT_THAT(workload.program.inputs[0]->strides, ElementsAre(8, 1));
  EXPECT_THAT(at_values(workload, std::vector<int64_t>{3}).program.inputs[0]->strides, ElementsAre(8, 1));
  const std::string text = to_string(workload.program);
  EXPECT_EQ(to_string(parse_program(text)), text);
  EXPECT_NE(workload.hash, workload_of(kRows, {{"m", "1..8"}}).hash);
}

/// Contents say where to read, within what there is.
TEST(VaryingExtents, AreReadWhereContentsSay) {
  const std::string text =
      "name: t\nparams: {n: 4}\n"
      "inputs:\n  X: {shape: [n], dtype: f32}\n  I: {shape: [3], dtype: i64}\n"
      "compute: \"O[i<3] = X[at(I[i])]\"\noutputs: [O]\n";
  const Workload workload = workload_of(text, {{"n", "1..9"}});
  EXPECT_THAT(to_string(workload.program), HasSubstr("n - 1"));
  const Store& store = *collect<Store>(workload.program.root()).front();
  EXPECT_TRUE(is_const_int(existence(store), 1)) << to_string(existence(store));
  // A type that has no number for the last index of the highest value.
  std::string bytes = text;
  bytes.replace(bytes.find("i64"), 3, "i8");
  const Workload narrow = workload_of(bytes, {{"n", "1..900"}});
  EXPECT_TRUE(is_const_int(existence(*collect<Store>(narrow.program.root()).front()), 1));
}

/// A mean over what varies.
TEST(VaryingExtents, AreNumbersBesideFloatingValues) {
  const Workload workload = workload_of(
      "name: t\nparams: {n: 4}\ninputs: {X: {shape: [2, n], dtype: f32}}\n"
      "compute: \"O[i<2] = (sum(j<n) X[i, j]) / n\"\noutputs: [O]\n",
      {{"n", "1..9"}});
  EXPECT_THAT(to_string(workload.program), HasSubstr("f32(n)"));
}

std::string refused_with(const std::string& params, const std::string& more) {
  return error_of("name: t\nparams: {n: 4, " + params + "}\n" + more, {{"n", "2..9"}});
}

TEST(VaryingExtents, AreRefusedWhereTheyStand) {
  const std::string input = "inputs: {X: {shape: [n, 8], dtype: f32}}\n";
  EXPECT_THAT(refused_with("k: 2*n", input + "compute: \"O[i<n] = X[i, 0]\"\noutputs: [O]\n"),
              HasSubstr("parameter 'k' of t would be n*2, which varies; give it a value"));
  EXPECT_THAT(refused_with("k: 1", "require: [n % 2 == 0]\n" + input +
                                       "compute: \"O[i<n] = X[i, 0]\"\noutputs: [O]\n"),
              HasSubstr("requires n % 2 == 0, which does not hold for every value of a range"));
  EXPECT_THAT(refused_with("k: 1", input + "compute: \"O[i<n] = X[i, at(X[i, 0] > 0)]\"\noutputs: [O]\n"),
              HasSubstr("at takes an integer"));
  EXPECT_THAT(refused_with("k: 1", input + "compute: \"O[i<9] = X[i, 0]\"\noutputs: [O]\n"),
              HasSubstr("'X' may be read out of bounds: index 1 of 2 runs from 0 to 8, the extent is n"));
  EXPECT_THAT(refused_with("k: 1", input + "compute: \"O[j<8] = sum(i<n) X[0, j] * f32(i)\"\noutputs: [O]\n"),
              HasSubstr("the extent of axis 'i' varies, but no element that is always read has its index"));
  EXPECT_THAT(refused_with("k: 1",
                           "inputs: {X: {shape: [n, 8], dtype: f32, constant: true}}\n"
                           "compute: \"O[i<n] = X[i, 0]\"\noutputs: [O]\n"),
              HasSubstr("'X' is constant, but an extent of it varies"));
}

}  // namespace
}  // namespace tunesmith
