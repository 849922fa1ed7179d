// Loops whose copies to shared memory run iterations ahead, asynchronously or not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tunesmith/ir/tree_surgery.h"
#include "tunesmith/ir/visit.h"
#include "unit/grid/grid_machine.h"
#include "unit/lower/run_passes.h"

namespace tunesmith {
namespace {

using namespace test;
using ::testing::HasSubstr;

/// In each iteration of a loop, 4 x 4 threads fetch four steps of both operands.
Schedule pipelined_product(int64_t rows, int64_t steps, int64_t stages,
                           const std::string& accumulator = "local") {
  Schedule s(gmm(rows, 8, 4 * steps));
  const BlockRV product = s.get_block("O");
  const std::vector<LoopRV> loops = s.get_loops(product);
  const std::vector<LoopRV> i = s.split(loops[0], {std::nullopt, int64_t{4}});
  const std::vector<LoopRV> j = s.split(loops[1], {std::nullopt, int64_t{4}});
  const std::vector<LoopRV> k = s.split(loops[2], {std::nullopt, int64_t{4}});
  s.reorder({j[0], i[0], k[0], i[1], j[1], k[1]});
  share_operands(s, product, k[0], i[0], accumulator);
  s.bind(j[0], "block.x");
  s.bind(i[1], "thread.y");
  s.bind(j[1], "thread.x");
  if (rows == 4) s.bind(i[0], "block.y");
  if (stages > 0) s.software_pipeline(k[0], stages);
  return s;
}

LowerOptions without_async() {
  LowerOptions options = grid_options();
  for (MemoryScope& scope : options.execution.scopes) scope.async_copy_bytes.clear();
  return options;
}

TEST(PipelineLoops, FetchAheadBehindOneBarrier) {
  const Schedule s = pipelined_product(4, 5, 3);
  const std::string text = body_text(lowered_for_grid(s.program(), "pipeline_loops").program);
  EXPECT_THAT(text, HasSubstr("alloc A_shared: f32[3, 4, 4] shared strides [16, 4, 1]")) << text;
  EXPECT_THAT(text, HasSubstr("async_wait(1)")) << text;
  EXPECT_THAT(text, HasSubstr("if k_0 + 2 < 5:")) << text;
  EXPECT_EQ(collect<Barrier>(lowered_for_grid(s.program()).program.root()).size(), 1u) << text;
  EXPECT_EQ(collect<AsyncGroup>(lowered_for_grid(s.program()).program.root()).size(), 3u) << text;
  expect_same_after_every_step(s.program());
}

TEST(PipelineLoops, AnyNumberOfStepsAndStages) {
  for (int64_t steps = 1; steps <= 7; ++steps) {
    for (int64_t stages = 2; stages <= 5; ++stages) {
      for (const char* accumulator : {"", "local", "shared"}) {
        SCOPED_TRACE(fmt::format("{} steps, {} stages, sums in '{}'", steps, stages, accumulator));
        const Schedule s = pipelined_product(4, steps, stages, accumulator);
        expect_same_after_every_step(s.program());
        std::vector<Tensor> expected = random_arguments(s.program());
        interpret(s.program(), expected);
        std::vector<Tensor> computed = random_arguments(s.program());
        const LoweredProgram waiting = lower(s.program(), without_async(), grid_pipeline());
        EXPECT_EQ(find_first<AsyncGroup>(waiting.program.root()), nullptr);
        ASSERT_NO_THROW(interpret(waiting, computed)) << to_string(waiting.program);
        EXPECT_EQ(computed, expected);
      }
    }
  }
}

TEST(PipelineLoops, InALoopThatRepeatsThem) {
  // A thread computes several rows, so it enters the loop again while others are still in it.
  for (const int64_t stages : {2, 3, 4})
    expect_same_after_every_step(pipelined_product(12, 5, stages).program());
}

TEST(PipelineLoops, OfOneThread) {
  Schedule s(gmm(4, 4, 12));
  const BlockRV product = s.get_block("O");
  const std::vector<LoopRV> loops = s.get_loops(product);
  const std::vector<LoopRV> k = s.split(loops[2], {std::nullopt, int64_t{3}});
  s.reorder({k[0], loops[0], loops[1], k[1]});
  s.compute_at(s.cache_read(product, 0, "shared"), k[0]);
  s.software_pipeline(k[0], int64_t{3});
  expect_same_after_every_step(s.program());
}

/// Without one of its waits, barriers or versions, a pipelined loop is wrong, and the interpreter reports it.
TEST(PipelineLoops, EachWaitAndBarrierIsNeeded) {
  for (const int64_t stages : {2, 3, 4}) {
    const Schedule s = pipelined_product(12, 5 + stages % 2 * 2, stages);
    const auto mistaken = [&](const std::string& what, const auto& change) {
      LoweredProgram wrong = lowered_for_grid(s.program());
      change(wrong.program.root());
      std::vector<Tensor> arguments = random_arguments(wrong.program);
      EXPECT_THROW(interpret(wrong, arguments), InterpreterError) << what << to_string(wrong.program);
    };
    mistaken("without the wait", [](Stmt& root) { replace(*find_first<AsyncWait>(root), nullptr); });
    mistaken("a wait for one group less", [](Stmt& root) {
      AsyncWait& wait = *find_first<AsyncWait>(root);
      replace(wait, std::make_unique<AsyncWait>(wait.pending + 1));
    });
    const size_t barriers = collect<Barrier>(lowered_for_grid(s.program()).program.root()).size();
    EXPECT_EQ(barriers, 2u);
    for (size_t left_out = 0; left_out < barriers; ++left_out)
      mistaken("without a barrier", [&](Stmt& root) { replace(*collect<Barrier>(root)[left_out], nullptr); });
    mistaken("the barrier before the wait", [](Stmt& root) {
      AsyncWait& wait = *find_first<AsyncWait>(root);
      const int64_t pending = wait.pending;
      Seq& seq = *wait.parent->as<Seq>();
      seq.remove(seq.index_of(wait));
      seq.insert(1, std::make_unique<AsyncWait>(pending));
    });
  }
}

void expect_not_lowered(const Schedule& s, const std::string& message) {
  EXPECT_THAT([&] { lowered_for_grid(s.program()); },
              testing::ThrowsMessage<LowerError>(testing::HasSubstr(message)));
}

TEST(PipelineLoops, Refusals) {
  // A thread's private copy is not fetched for others.
  Schedule own(program_of(kInput, kChain));
  const std::vector<LoopRV> loops = own.get_loops(own.get_block("O"));
  own.set_scope(own.get_block("T"), 0, "local");
  own.compute_at(own.get_block("T"), loops[0]);
  own.software_pipeline(loops[0], int64_t{2});
  expect_not_lowered(own, "does not begin with statements that only fill memory that threads share");
}

TEST(PipelineLoops, AreLeftOutByProcessors) {
  const Schedule s = pipelined_product(4, 5, 3);
  Schedule plain(gmm(4, 8, 20));
  const LoopRV k = plain.get_loops(plain.get_block("O"))[2];
  const std::vector<LoopRV> parts = plain.split(k, {std::nullopt, int64_t{4}});
  const BlockRV copy = plain.cache_read(plain.get_block("O"), 0, "local");
  plain.compute_at(copy, parts[0]);
  plain.software_pipeline(parts[0], int64_t{3});
  std::vector<Tensor> expected = random_arguments(plain.program());
  interpret(plain.program(), expected);
  std::vector<Tensor> computed = random_arguments(plain.program());
  interpret(lower(plain.program(), small_machine()), computed);
  EXPECT_EQ(computed, expected);
}

}  // namespace
}  // namespace tunesmith
