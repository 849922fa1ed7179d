#include "tunesmith/performance/wasteful_access.h"

#include <gtest/gtest.h>

#include "unit/grid/grid_machine.h"
#include "unit/primitives/equivalence.h"

namespace tunesmith {
namespace {

class WastefulAccessTest : public ::testing::Test {
 protected:
  std::vector<std::string> said(Program& program) {
    const LoweredProgram lowered = test::lowered_for_grid(program);
    const ExecutionModel execution = test::grid_machine();
    std::vector<std::string> lines;
    for (const WastefulAccess& access : wasteful_accesses(lowered.program, {&execution, 32, 32}))
      lines.push_back(to_string(access));
    return lines;
  }

  static void bind_loop(Program& program, size_t depth, const char* axis) {
    for (Block* block : program.blocks()) {
      Loop* loop = loops_above(*block)[depth];
      loop->loop_kind = LoopKind::Bound;
      loop->thread = axis;
    }
  }
};

TEST_F(WastefulAccessTest, NothingIsSaidOfNeighboursThatLieSideBySide) {
  Program program = test::make_chain(4, 64);
  bind_loop(program, 0, "block.x");
  bind_loop(program, 1, "thread.x");
  EXPECT_EQ(said(program), std::vector<std::string>{});
}

TEST_F(WastefulAccessTest, ThreadsAlongColumnsTakeASectorEach) {
  Program program = test::make_chain(64, 16);
  bind_loop(program, 0, "thread.x");
  const std::vector<std::string> lines = said(program);
  ASSERT_FALSE(lines.empty());
  for (const std::string& line : lines) {
    EXPECT_NE(line.find("takes 32 sectors where 4 would do: neighbouring threads lie 64 bytes apart"),
              std::string::npos)
        << line;
  }
}

}  // namespace
}  // namespace tunesmith
