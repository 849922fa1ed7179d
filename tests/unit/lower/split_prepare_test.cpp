#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tunesmith/ir/visit.h>
#include <tunesmith/target/extension_file.h>
#include <tunesmith/verification/interpreter.h>

#include "random_arguments.h"
#include "unit/lower/run_passes.h"

namespace tunesmith {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

LowerOptions preparing() {
  LowerOptions options = small_machine();
  options.prepare = true;
  return options;
}

std::vector<std::string> names(const std::vector<Buffer>& buffers) {
  std::vector<std::string> result;
  for (const Buffer& buffer : buffers) result.push_back(buffer->name);
  return result;
}

/// A is known only at a call, W before.
Program product() {
  return program_of("A: {shape: [4, 6], dtype: f32}, W: {shape: [6, 8], dtype: f32, constant: true}",
                    "O[i<4, j<8] = sum(k<6) A[i, k] * W[k, j]");
}

void expect_equal_results(const Program& program, const LoweredProgram& lowered) {
  std::vector<Tensor> wanted = test::random_arguments(program);
  std::vector<Tensor> got = wanted;
  interpret(program, wanted);
  interpret(lowered, got);
  EXPECT_EQ(wanted, got);
}

TEST(SplitPrepare, APackedConstantIsPreparedAndItsOriginalNoLongerRead) {
  Schedule s(product());
  const BlockRV packed = s.cache_read(s.get_block("O"), 1, kScopeGlobal);
  s.transform_layout(packed, "write", 0, "(k, j) -> (j // 4, k, j % 4)");
  s.parallel(s.get_loops(packed)[0]);
  const LoweredProgram lowered = lower(s.program(), preparing());
  ASSERT_NE(lowered.prepare, nullptr);
  EXPECT_THAT(names(lowered.program.inputs), ElementsAre("A", "W", "W_global"));
  EXPECT_THAT(names(lowered.prepare->program.inputs), ElementsAre("W"));
  EXPECT_THAT(names(lowered.prepare->program.outputs), ElementsAre("W_global"));
  ASSERT_EQ(lowered.prepared.size(), 1u);
  EXPECT_EQ(lowered.prepared_bytes, 6 * 8 * 4);
  EXPECT_THAT(body_text(lowered.program), testing::Not(HasSubstr("W[")));
  expect_equal_results(s.program(), lowered);
}

TEST(SplitPrepare, OnlyWhereItIsAskedFor) {
  Schedule s(product());
  s.cache_read(s.get_block("O"), 1, kScopeGlobal);
  const LoweredProgram lowered = lower(s.program(), small_machine());
  EXPECT_EQ(lowered.prepare, nullptr);
  EXPECT_THAT(names(lowered.program.inputs), ElementsAre("A", "W"));
}

TEST(SplitPrepare, WhatPacksNothingHasNothingToPrepare) {
  EXPECT_EQ(lower(product(), preparing()).prepare, nullptr);
  Schedule other(product());  // copies an operand that is not constant
  other.cache_read(other.get_block("O"), 0, kScopeGlobal);
  EXPECT_EQ(lower(other.program(), preparing()).prepare, nullptr);
  Schedule inner(product());  // a copy inside the consumer's loops belongs to the call
  const BlockRV block = inner.get_block("O");
  inner.compute_at(inner.cache_read(block, 1, kScopeGlobal), inner.get_loops(block)[0]);
  EXPECT_EQ(lower(inner.program(), preparing()).prepare, nullptr);
  Schedule local(product());  // the memory of one thread ends with the call
  local.cache_read(local.get_block("O"), 1, kScopeLocal);
  EXPECT_EQ(lower(local.program(), preparing()).prepare, nullptr);
}

TEST(SplitPrepare, ChainsAreWholeAndKeepWhatTheyNeedToThemselves) {
  const Program program =
      program_of("X: {shape: [8], dtype: f32}, W: {shape: [8], dtype: f32, constant: true}",
                 "T[i<8] = W[i] * f32(i)\n  S[i<8] = sum(k<8) T[k] * W[i]\n  U[i<8] = exp(X[i])\n"
                 "  O[i<8] = S[i] * U[i] + W[i]");
  const LoweredProgram lowered = lower(program, preparing());
  ASSERT_NE(lowered.prepare, nullptr);
  EXPECT_THAT(names(lowered.prepare->program.outputs), ElementsAre("S")) << "T is used for S alone";
  EXPECT_THAT(names(lowered.program.inputs), ElementsAre("X", "W", "S"));
  EXPECT_THAT(body_text(lowered.program), HasSubstr("W[")) << "the call reads W, too";
  expect_equal_results(program, lowered);
}

TEST(SplitPrepare, ABufferWrittenInTwoPlacesIsPreparedWholeOrNotAtAll) {
  const char* padded = "P[i<10] = inside({}[i - 1], 0)\n  O[i<8] = P[i] + P[i + 2] + X[i] + W[i]";
  const std::string inputs = "X: {shape: [8], dtype: f32}, W: {shape: [8], dtype: f32, constant: true}";
  for (const bool constant : {true, false}) {
    Schedule s(program_of(inputs, fmt::format(fmt::runtime(padded), constant ? "W" : "X")));
    const BlockRV block = s.get_block("P");
    s.decompose_padding(block, s.get_loops(block)[0]);
    const LoweredProgram lowered = lower(s.program(), preparing());
    EXPECT_EQ(lowered.prepare != nullptr, constant) << "zeros alone depend on no constant input";
    if (constant) {
      EXPECT_THAT(names(lowered.program.inputs), ElementsAre("X", "W", "P"));
    }
    expect_equal_results(s.program(), lowered);
  }
}

TEST(SplitPrepare, AnOutputIsNeverPrepared) {
  const Program program =
      program_of("W: {shape: [8], dtype: f32, constant: true}", "T[i<8] = W[i] + 1\n  O[i<8] = T[i] * 2");
  const LoweredProgram lowered = lower(program, preparing());
  ASSERT_NE(lowered.prepare, nullptr);
  EXPECT_THAT(names(lowered.prepare->program.outputs), ElementsAre("T"));
  EXPECT_THAT(names(lowered.program.outputs), ElementsAre("O"));
  expect_equal_results(program, lowered);
}

constexpr const char* kPacker = R"yaml(extension: packer
target: t
intrinsics:
  - name: packer_row_4
    semantics: {inputs: {X: {shape: [4], dtype: f32}}, compute: "P[j<4] = X[j]", outputs: [P]}
    operands: {$}
    implementation: {fragment: ""}
)yaml";

/// W in panels of 4 columns; one instruction copies a row of a panel.
LoweredProgram packed_by_unit(const std::string& operands, const char* scope) {
  std::string file = kPacker;
  file.replace(file.find('$'), 1, operands);
  const auto extension = ExtensionFile::parse(file, "packer.yaml");
  Schedule s(product());
  const BlockRV packed = s.cache_read(s.get_block("O"), 1, scope);
  s.transform_layout(packed, "write", 0, "(k, j) -> (j // 4, k, j % 4)");
  s.tensorize(s.blockize(s.split(s.get_loops(packed)[1], {std::nullopt, 4})[1]), "packer_row_4");
  LowerOptions options = preparing();
  extension->adapt(options);
  LoweredProgram lowered = lower(s.program(), options);
  expect_equal_results(s.program(), lowered);
  return lowered;
}

TEST(SplitPrepare, ACopyThatAUnitMakesIsPreparedLikeAnyOther) {
  for (const char* operands : {"", "P: {scope: global}", "X: {pass: address}", "X: {strides: [1n]}"}) {
    const LoweredProgram lowered = packed_by_unit(operands, kScopeGlobal);
    ASSERT_NE(lowered.prepare, nullptr) << operands;
    EXPECT_THAT(names(lowered.prepare->program.outputs), ElementsAre("W_global")) << operands;
    const auto is_call = [](const Loop& loop) { return loop.annotations.contains(kTensorIntrinsic); };
    EXPECT_EQ(collect<Loop>(lowered.prepare->program.root(), is_call).size(), 1U) << operands;
    EXPECT_TRUE(collect<Loop>(lowered.program.root(), is_call).empty()) << operands;
  }
}

TEST(SplitPrepare, GapsOfAnAlignmentArePreparedToo) {
  Schedule s(product());
  const BlockRV packed = s.cache_read(s.get_block("O"), 1, kScopeGlobal);
  s.storage_align(packed, 0, 0, 16, 1);
  const LoweredProgram lowered = lower(s.program(), preparing());
  ASSERT_EQ(lowered.prepared.size(), 1u);
  EXPECT_THAT(lowered.prepared[0].buffer->shape, ElementsAre(5 * 17 + 8)) << "six rows of 17, the last of 8";
  expect_equal_results(s.program(), lowered);
}

}  // namespace
}  // namespace tunesmith
