// Compares compiled programs for ranges of extents with the interpreted program for each value. Buffers end
// at inaccessible pages.
#include "varying.h"

#include <functional>
#include <optional>

#include <gtest/gtest.h>

#include "lowered_program.h"
#include "tunesmith/lower/switch_programs.h"
#include "tunesmith/trace/schedule.h"
#include "tunesmith/workload/library.h"

namespace tunesmith {
namespace {

using tunesmith_test::AtValues;
using tunesmith_test::tried_values;

void expect_lowered_right(llvm_target::LlvmTarget& target, const Workload& workload,
                          const LoweredProgram& lowered) {
  for (const int64_t value : tried_values(workload.program)) {
    const AtValues at(workload, {value});
    at.expect_interpreted(lowered, workload.program, 1e-3);
    const std::vector<Tensor> got =
        testing::run_guarded_at(target, lowered, at.fixed.program, at.values, at.arguments, 2);
    for (size_t i = 0; i < got.size(); ++i)
      EXPECT_LE(max_error(got[i], at.wanted[i]), 1e-3) << value << to_string(lowered.program);
    if (::testing::Test::HasFailure()) return;
  }
}

void expect_right(const std::string& text, const std::function<void(Schedule&)>& change) {
  const auto target = testing::make_target();
  const Workload workload = WorkloadLibrary().load(text);
  Schedule s(workload.program.clone());
  change(s);
  for (const int64_t value : tried_values(workload.program))
    AtValues(workload, {value}).expect_interpreted(s.program(), s.program(), 1e-3);
  expect_lowered_right(*target, workload, lower(s.program(), target->lower_options()));
}

class Varying : public ::testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Workloads, Varying,
                         ::testing::Values("gmm:n=1..37,m=11,k=13", "gmm:b=1..7,n=5,m=6,k=7",
                                           "dense_bias_gelu:n=1..19,m=8,k=10", "softmax:m=1..17,n=37",
                                           "layer_norm:m=2..17,n=37", "reduce_sum_2d:m=1..17,n=13",
                                           "relu:n=1..37,m=13", "elementwise_chain:n=1..17,m=11",
                                           "gmm:n=1..37,m=11,k=13,dtype=bf16", "gmm:b=2,n=5,m=1..17,k=13",
                                           "gmm:b=2,n=5,m=6,k=1..17", "softmax:m=5,n=1..17",
                                           "layer_norm:m=5,n=2..17", "reduce_sum_2d:m=5,n=1..17",
                                           "elementwise_chain:n=5,m=1..17",
                                           "attention_scores:b=2,seq=1..17,heads=2,dim=5",
                                           "attention_scores:b=1..3,seq=6,heads=2,dim=5"));

TEST_P(Varying, AreRightAsTheyStand) {
  expect_right(GetParam(), [](Schedule&) {});
}

/// Tiles of so many rows, in registers, on vectors and threads.
void tile(Schedule& s, int64_t rows) {
  const BlockRV block = s.get_block("C");
  const std::vector<LoopRV> loops = s.get_loops(block);
  const std::vector<LoopRV> i = s.split(loops[1], {std::nullopt, rows});
  const std::vector<LoopRV> j = s.split(loops[2], {std::nullopt, 8});
  s.reorder({i[0], j[0], loops[3], i[1], j[1]});
  s.decompose_reduction(block, loops[3]);
  s.unroll(i[1]);
  s.vectorize(j[1]);
  s.parallel(s.fuse({loops[0], i[0], j[0]}));
}

/// They do not divide.
TEST(VaryingTiles, AreRight) {
  for (const int64_t rows : {1, 3, 6})
    expect_right("gmm:n=1..37,m=24,k=13", [&](Schedule& s) { tile(s, rows); });
}

TEST(VaryingTiles, OfSeveralIntervalsAreRight) {
  const auto target = testing::make_target();
  const Workload workload = WorkloadLibrary().load("gmm:n=1..37,m=24,k=13");
  const auto tiled = [&](int64_t rows) {
    Schedule s(workload.program.clone());
    tile(s, rows);
    return lower(s.program(), target->lower_options());
  };
  const LoweredProgram low = tiled(1), middle = tiled(3), high = tiled(6);
  const std::vector<ProgramOfInterval> parts = {{&low, 1, 2}, {&middle, 3, 11}, {&high, 12, 37}};
  expect_lowered_right(*target, workload, switch_programs(0, parts));
}

/// Rows whose distance varies are held in registers all the same.
TEST(VaryingTiles, AreInRegistersWhereRowsLieAtADistanceThatVaries) {
  const auto tiled = [](Schedule& s) {
    const BlockRV block = s.get_block("C");
    const std::vector<LoopRV> loops = s.get_loops(block);
    const std::vector<LoopRV> i = s.split(loops[1], {std::nullopt, 6});
    const std::vector<LoopRV> j = s.split(loops[2], {std::nullopt, 8});
    s.reorder({i[0], j[0], loops[3], i[1], j[1]});
    s.decompose_reduction(block, loops[3]);
    s.unroll(i[1]);
    s.vectorize(j[1]);
  };
  const std::string text = "gmm:n=12,m=1..37,k=13";
  expect_right(text, tiled);
  Schedule s(WorkloadLibrary().load(text).program.clone());
  tiled(s);
  const std::string lowered = to_string(lower(s.program(), testing::make_target()->lower_options()).program);
  EXPECT_NE(lowered.find("alloc C_acc: f32[48] register"), std::string::npos) << lowered;
}

/// Lanes that lie a distance apart which varies.
TEST(VaryingTiles, AreRightOnVectorsAcrossRows) {
  expect_right("relu:n=16,m=1..37", [](Schedule& s) {
    const std::vector<LoopRV> loops = s.get_loops(s.get_block("O"));
    s.reorder({loops[1], loops[0]});
    s.vectorize(s.split(loops[0], {std::nullopt, 8})[1]);
  });
}

/// The varying dimension itself on vectors.
TEST(VaryingTiles, AreRightOnVectors) {
  expect_right("relu:n=1..37,m=1", [](Schedule& s) {
    const std::vector<LoopRV> loops = s.get_loops(s.get_block("O"));
    const std::vector<LoopRV> i = s.split(s.fuse(loops), {std::nullopt, 8});
    s.vectorize(i[1]);
    s.parallel(i[0]);
  });
}

TEST(VaryingTiles, DoNoWorkBeyond) {
  const auto target = testing::make_target();
  const Workload workload = WorkloadLibrary().load("gmm:n=1..96,m=16,k=8");
  Schedule s(workload.program.clone());
  const std::vector<LoopRV> loops = s.get_loops(s.get_block("C"));
  s.unroll(s.split(loops[1], {std::nullopt, 6})[1]);
  const std::string text = to_string(lower(s.program(), target->lower_options()).program);
  EXPECT_NE(text.find("0..(n + 5)//6"), std::string::npos) << text;
  EXPECT_NE(text.find("else:"), std::string::npos) << text;
}

}  // namespace
}  // namespace tunesmith
