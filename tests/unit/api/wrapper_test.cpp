// The wrapper in C++ over the tables, in one process with the kernel. Nothing else of the kernel is included
// here, as in a plugin.
#include <gtest/gtest.h>

#include <tunesmith/stable/module.h>
#include <tunesmith/stable/task_scheduler.h>

#include "api/host.h"
#include "unit/api/test_schedule.h"

namespace {

using namespace tunesmith;

class StableWrapper : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(detail::start(&api::k_host), nullptr); }
  static Schedule gmm() { return Schedule(tunesmith_test::make_gmm_schedule()); }
  static Schedule relu() { return Schedule(tunesmith_test::make_relu_schedule()); }
};

TEST_F(StableWrapper, ATableThatIsTooShortIsReported) {
  static const tunesmith_host cut = {
      sizeof(tunesmith_host), [](tunesmith_text id) -> const void* {
        static tunesmith_program_table table;
        if (detail::view(id) != "tunesmith.program/1") return api::k_host.table(id);
        table = *static_cast<const tunesmith_program_table*>(api::k_host.table(id));
        table.size = offsetof(tunesmith_program_table, annotation);
        return &table;
      }};
  tunesmith_error* error = detail::start(&cut);
  ASSERT_NE(error, nullptr);
  EXPECT_THROW(throw_error(error), UnsupportedError);
}

// A later kernel has longer tables.
TEST_F(StableWrapper, ATableThatIsLongerIsTaken) {
  static const tunesmith_host longer = {
      sizeof(tunesmith_host), [](tunesmith_text id) -> const void* {
        struct Longer {
          tunesmith_program_table table;
          void (*added_later)(uint32_t number);
        };
        static Longer table;
        if (detail::view(id) != "tunesmith.program/1") return api::k_host.table(id);
        table.table = *static_cast<const tunesmith_program_table*>(api::k_host.table(id));
        table.table.size = sizeof(table);
        return &table;
      }};
  ASSERT_EQ(detail::start(&longer), nullptr);
  EXPECT_EQ(gmm().program().blocks().size(), 1U);
}

TEST_F(StableWrapper, ProgramsAreReadByViews) {
  const Schedule schedule = relu();
  const Program program = schedule.program();
  const Block& block = *program.find_block("C");
  EXPECT_EQ(block.name, "C");
  EXPECT_TRUE(block.init());
  EXPECT_TRUE(block.has_reduction());
  EXPECT_EQ(block.iters().size(), 3U);
  EXPECT_TRUE(is_trivially_bound(block));
  EXPECT_TRUE(needs_tiling(block));
  EXPECT_FALSE(is_elementwise(block));
  EXPECT_EQ(iteration_count(block).spatial, 256);
  EXPECT_EQ(iteration_count(block).reduction, 8);
  const auto loops = loops_above(block);
  ASSERT_EQ(loops.size(), 3U);
  EXPECT_EQ(loops[2]->const_extent(), 8);
  EXPECT_TRUE(use_of(*loops[2]).reduction);
  EXPECT_EQ(store_stride(block, *loops[1]), 1);
  EXPECT_TRUE(is_ancestor(*loops[0], block));
  EXPECT_FALSE(is_ancestor(block, *loops[0]));
  EXPECT_EQ(reads_of(block).size(), 2U);
  EXPECT_EQ(writes_of(block).front().buffer->elements(), 256);
  const Block relu_block = *program.find_block("R");
  EXPECT_TRUE(writes_output(program, relu_block));
  ASSERT_EQ(consumers_of(program, block).size(), 1U);
  EXPECT_EQ(consumers_of(program, block).front()->name, "R");
  EXPECT_TRUE(any_of_exprs(relu_block, [](const Expr& part) { return part.is(ExprKind::Max); }));
  EXPECT_FALSE(any_of_exprs(block, [](const Expr& part) { return part.is(ExprKind::Max); }));
  EXPECT_EQ(program.find_block("X"), nullptr);
}

TEST_F(StableWrapper, ViewsShowWhatWasReadAndQuestionsWhatIsNow) {
  Schedule schedule = gmm();
  const BlockRV block = schedule.get_block("C");
  const std::vector<LoopRV> loops = schedule.get_loops(block);
  const Loop before = schedule.loop(loops[0]);
  schedule.parallel(loops[0]);
  EXPECT_EQ(before.loop_kind, LoopKind::Serial);
  EXPECT_EQ(schedule.loop(loops[0]).loop_kind, LoopKind::Parallel);
  EXPECT_EQ(schedule.facts(loops[0]).kind, LoopKind::Parallel);
  EXPECT_EQ(schedule.facts(loops[2]).extent, 8);
  EXPECT_EQ(schedule.facts(loops[2]).only_child, StmtKind::Block);
  EXPECT_TRUE(schedule.use_of(loops[2], block).reduction);
  Schedule moved = std::move(schedule);
  EXPECT_EQ(before.const_extent(), 16);  // valid after the move
  moved = gmm();
  EXPECT_EQ(before.const_extent(), 16);  // and after its schedule is replaced
  EXPECT_THROW((void)use_of(before), ScheduleMisuse);
}

TEST_F(StableWrapper, ErrorsAreExceptionsAndGoBackAsTheyCame) {
  Schedule schedule = gmm();
  const BlockRV block = schedule.get_block("C");
  EXPECT_THROW(schedule.get_block("X"), Error);
  EXPECT_THROW(schedule.fuse(schedule.get_loops(BlockRV{{77}})), ScheduleMisuse);
  EXPECT_THROW(schedule.call("no_such_instruction"), UnsupportedError);
  tunesmith_error* error = detail::guarded([&] { schedule.compute_inline(block); });
  ASSERT_NE(error, nullptr);
  try {
    throw_error(error);
  } catch (const ScheduleError& refusal) {
    EXPECT_EQ(refusal.primitive(), "compute_inline");
    EXPECT_NE(std::string(refusal.what()).find(refusal.reason()), std::string::npos);
  }
  error = detail::guarded([] { throw std::runtime_error("of the plugin's own"); });
  EXPECT_THROW(throw_error(error), InternalError);
  error = detail::guarded([] { throw 7; });
  EXPECT_THROW(throw_error(error), InternalError);
  error = detail::guarded([] { throw ScheduleError("acme", "it does not fit", "3 > 2"); });
  try {
    throw_error(error);
  } catch (const ScheduleError& refusal) {
    EXPECT_EQ(refusal.reason(), "it does not fit");
    EXPECT_EQ(refusal.detail(), "3 > 2");
  }
}

TEST_F(StableWrapper, ABlocksNestSaysHowFarItRunsAlongAnAxis) {
  Schedule schedule = relu();
  const BlockRV block = schedule.get_block("C"), other = schedule.get_block("R");
  const std::vector<LoopRV> loops = schedule.get_loops(block);
  EXPECT_EQ(schedule.axis_extent(schedule.id(block), "thread.x"), 0);
  schedule.bind(loops[0], "thread.x");
  EXPECT_EQ(schedule.axis_extent(schedule.id(block), "thread.x"), 16);
  EXPECT_EQ(schedule.axis_extent(schedule.id(block), "thread.y"), 0);
  EXPECT_EQ(schedule.axis_extent(schedule.id(other), "thread.x"), 0);  // of another nest
  EXPECT_THROW((void)schedule.axis_extent(BlockId{12345}, "thread.x"), ScheduleMisuse);
}

// A variable's block has an id even after it is gone; only questions about the block fail.
TEST_F(StableWrapper, ABlockThatIsGoneKeepsItsIdAndAnswersNoQuestion) {
  Schedule schedule(tunesmith_test::make_chain_schedule());
  const BlockRV block = schedule.get_block("R");
  const BlockId id = schedule.id(block);
  schedule.compute_inline(block);
  EXPECT_EQ(schedule.id(block), id);
  EXPECT_THROW((void)schedule.loops_of(block), ScheduleMisuse);
}

TEST_F(StableWrapper, AnInstructionThatTheHeadersDoNotKnowIsCalledByName) {
  Schedule schedule = gmm();
  const auto block = schedule.call<BlockRV>("get_block", "C");
  const auto loops = schedule.call<std::vector<LoopRV>>("get_loops", block);
  schedule.call("annotate", loops[0], "acme", 7);
  EXPECT_EQ(schedule.loop(loops[0]).annotations.find_int("acme"), 7);
  schedule.annotate("acme", 3);
  EXPECT_EQ(schedule.annotation("acme"), 3);
  EXPECT_EQ(schedule.annotation("other"), std::nullopt);
}

}  // namespace
