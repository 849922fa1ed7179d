#include <gtest/gtest.h>

#include "lowered_program.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith {
namespace {

using namespace testing;

size_t count(const std::string& text, const std::string& wanted) {
  size_t times = 0;
  for (size_t at = text.find(wanted); at != std::string::npos; at = text.find(wanted, at + 1)) ++times;
  return times;
}

void annotate_steps(LoweredProgram& lowered, const char* key, int64_t value) {
  for (Loop* loop : collect<Loop>(lowered.program.root())) {
    if (loop->var->name == "k") loop->annotations[key] = value;
  }
}

/// O[i, j] = X[i, j] + X[i, 0] over rows of 32 elements; Y stands still over i.
LoweredProgram rows(int64_t ahead) {
  const Buffer x = make_buffer("X", kF32, {512}), y = make_buffer("Y", kF32, {32}),
               o = make_buffer("O", kF32, {512});
  const Var i("i"), v("v");
  const auto at = [&](const Expr& first) { return ramp(first + v * 4, 1, 4); };
  StmtPtr inner = make_loop(v, 8, LoopKind::Unrolled,
                            make_store(o, at(i * 32), load(x, {at(i * 32)}) + load(y, {at(0)})));
  StmtPtr loop = make_loop(i, 16, LoopKind::Serial, std::move(inner));
  if (ahead > 0) loop->as<Loop>()->annotations["prefetch"] = ahead;
  return make_lowered({x, y}, {o}, std::move(loop));
}

TEST(Prefetch, OncePerLineThatMovesWithTheLoop) {
  const auto target = make_target();
  // A row is 128 bytes.
  EXPECT_EQ(count(target->assembly(rows(2), "kernel"), "prefetcht0"), 2U);
  EXPECT_EQ(count(target->assembly(rows(0), "kernel"), "prefetch"), 0U);
}

TEST(Prefetch, ReachesBeyondTheBufferWithoutTouchingIt) {
  const auto target = make_target();
  EXPECT_EQ(error_against_interpreter(*target, rows(5)), 0.0);
}

TEST(Prefetch, InsideAParallelLoop) {
  const auto target = make_target();
  LoweredProgram lowered = gmm_tile_program(32, 32, 16, 4, 16, 4, /*parallel=*/true);
  annotate_steps(lowered, "prefetch", 8);
  EXPECT_GT(count(target->assembly(lowered, "kernel"), "prefetcht0"), 0U);
  EXPECT_LT(error_against_interpreter(*target, lowered, 2), 1e-4);
}

/// 12 rows in tiles of 4, panels of `columns` columns.
LoweredProgram panels(int64_t columns, int64_t behind, bool parallel = false) {
  LoweredProgram lowered = gmm_tile_program(12, 4 * columns, 32, 4, columns, 4, parallel);
  annotate_steps(lowered, "prefetch_behind", behind);
  return lowered;
}

TEST(PrefetchBehind, AShareOfTheNextPanelInEachStep) {
  const auto target = make_target();
  for (const bool parallel : {false, true}) {
    const LoweredProgram lowered = panels(16, 1, parallel);
    const std::string assembly = make_target({{"mcpu", "haswell"}})->assembly(lowered, "kernel");
    EXPECT_EQ(count(assembly, "prefetcht0"), 1U);
    EXPECT_EQ(count(assembly, "prefetcht0\t2048("), 1U) << "a panel has 2048 bytes\n" << assembly;
    EXPECT_LT(error_against_interpreter(*target, lowered, 2), 1e-4);
  }
  // A third of 128 columns takes three lines.
  EXPECT_EQ(count(target->assembly(panels(128, 1), "kernel"), "prefetcht0"), 3U);
}

TEST(PrefetchBehind, NothingWhereThatIsMuchOrNotWanted) {
  const auto target = make_target();
  EXPECT_EQ(count(target->assembly(panels(256, 1), "kernel"), "prefetch"), 0U);
  EXPECT_EQ(count(target->assembly(panels(16, 0), "kernel"), "prefetch"), 0U);
}

}  // namespace
}  // namespace tunesmith
