#include <gtest/gtest.h>

#include "unit/lower/run_passes.h"
#include "unit/primitives/equivalence.h"

namespace tunesmith {
namespace {

using namespace test;

const char* const kMirroredInput = "X: {shape: [8, 4], dtype: f32}";
const char* const kMirroredChain = "T[i<8, j<4] = exp(X[i, j])\n  O[i<8, j<4] = T[i, 3 - j] + 1";

Schedule chain_in_one_loop() {
  Schedule s(program_of(kMirroredInput, kMirroredChain));
  s.compute_at(s.get_block("T"), s.get_loops(s.get_block("O"))[0]);
  return s;
}

TEST(DoubleBuffers, KeepTheResult) {
  const Program before = gmm(7, 12, 6);
  Schedule s(before);
  const BlockRV o = s.get_block("O");
  const std::vector<LoopRV> loops = s.get_loops(o);
  const std::vector<LoopRV> rows = s.split(loops[0], {4, 2});
  const std::vector<LoopRV> steps = s.split(loops[2], {3, 2});
  s.reorder({rows[0], steps[0], rows[1], loops[1], steps[1]});
  for (const int input : {0, 1}) {
    const BlockRV copy = s.cache_read(o, input, "global");
    s.compute_at(copy, steps[0]);
    s.annotate(copy, "double_buffer", int64_t{1});
    s.storage_align(copy, 0, 0, 8, 3);
  }
  const Program lowered = std::move(lower(s.program(), small_machine()).program);
  const std::string text = to_string(lowered);
  EXPECT_NE(text.find("alloc A_global: f32[2, 2, 2]"), std::string::npos) << text;
  EXPECT_NE(text.find("alloc B_global: f32[2, 2, 12]"), std::string::npos) << text;
  expect_same_results(before, lowered, 1e-5);
}

void expect_refused(const Program& program, const char* reason) {
  try {
    lower(program, small_machine());
    ADD_FAILURE() << "not refused: " << reason;
  } catch (const LowerError& error) {
    EXPECT_EQ(error.reason(), reason) << to_string(program);
  }
}

TEST(DoubleBuffers, Refusals) {
  Schedule apart(program_of(kMirroredInput, kMirroredChain));
  apart.annotate(apart.get_block("T"), "double_buffer", int64_t{1});
  expect_refused(apart.program(), "the buffer is not made anew in each iteration of a loop");

  Schedule parallel = chain_in_one_loop();
  parallel.annotate(parallel.get_block("T"), "double_buffer", int64_t{1});
  parallel.parallel(parallel.get_loops(parallel.get_block("O"))[0]);
  expect_refused(parallel.program(), "the loop is not serial");

  Schedule chained(
      program_of(kMirroredInput,
                 "S[i<8, j<4] = X[i, j] * 2\n  T[i<8, j<4] = S[i, 3 - j]\n  O[i<8, j<4] = T[i, 3 - j] + 1"));
  const LoopRV loop = chained.get_loops(chained.get_block("O"))[0];
  chained.compute_at(chained.get_block("T"), loop);
  chained.compute_at(chained.get_block("S"), loop);
  chained.annotate(chained.get_block("T"), "double_buffer", int64_t{1});
  expect_refused(chained.program(), "the statement that writes the buffer reads what the loop writes");

  Schedule decomposed(program_of(
      kMirroredInput, "T[i<8, j<4] = sum(k<4) X[i, k] * X[i, j]\n  O[i<8, j<4] = T[i, 3 - j] + 1"));
  const BlockRV t = decomposed.get_block("T");
  decomposed.compute_at(t, decomposed.get_loops(decomposed.get_block("O"))[0]);
  decomposed.decompose_reduction(t, decomposed.get_loops(t)[1]);
  decomposed.annotate(t, "double_buffer", int64_t{1});
  expect_refused(decomposed.program(), "more than one statement of the loop writes the buffer");
}

}  // namespace
}  // namespace tunesmith
