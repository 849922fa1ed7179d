// Schedule as a whole: handles, clones, recording, replay, kinds from outside.
#include <tunesmith/workload/workload.h>

#include "unit/primitives/programs.h"

namespace tunesmith {
namespace {

TEST(Schedule, ClonesGoTheirOwnWay) {
  const Program program = test::make_gmm(8, 8, 4);
  Schedule schedule(program, RandomStream(1));
  const auto loops = schedule.get_loops(schedule.get_block("C"));
  Schedule other = schedule.clone();
  other.parallel(loops[0]);
  schedule.unroll(loops[2]);
  EXPECT_EQ(other.loop(loops[0]).loop_kind, LoopKind::Parallel);
  EXPECT_EQ(schedule.loop(loops[0]).loop_kind, LoopKind::Serial);
  EXPECT_EQ(other.trace().size(), 3U);
  EXPECT_EQ(schedule.trace().size(), 3U);
  EXPECT_NE(other.trace(), schedule.trace());
  // Equal streams draw the same.
  EXPECT_EQ(other.value(other.sample_perfect_tile(loops[1], 2, 8)[0]),
            schedule.value(schedule.sample_perfect_tile(loops[1], 2, 8)[0]));
}

// Once, a trace of version 1 that named a block's second buffer gave another program if that is no longer the
// second read.
TEST(Schedule, ATraceThatCountsBuffersIsRefusedWhereTheyAreNotTheAccesses) {
  const std::string text =
      "# tunesmith trace 1\nb0 = get_block(\"O\")\nb1 = cache_read(b0, 1, \"global\")\nb2 = cache_write(b0, "
      "0, \"global\")\n";
  const auto program_of = [](const std::string& compute) {
    const std::string file =
        "name: t\ninputs: {A: {shape: [8, 4], dtype: f32}, B: {shape: [8, 4], dtype: f32}}\ncompute: |\n  " +
        compute + "\noutputs: [O]\n";
    return std::move(WorkloadDefinition::parse(file, "t.yaml").instantiate().program);
  };
  const Program gram = program_of("O[i<8, j<8] = sum(k<4) A[i, k] * A[j, k] * B[i, k]");
  const auto refused = replay(gram, Trace::parse(text));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().reason(), "a trace of version 1 is ambiguous here");
  const Program product = program_of("O[i<8, j<8] = sum(k<4) A[i, k] * B[j, k]");
  const auto schedule = replay(product, Trace::parse(text));
  ASSERT_TRUE(schedule.has_value());
  EXPECT_TRUE(schedule->trace().str().starts_with("# tunesmith trace 2\n")) << "now it is known";
}

TEST(Schedule, FinishingIsRecordedBehindTheMarkerAndReplayed) {
  const Program program = test::make_gmm(8, 8, 4);
  Schedule schedule(program, RandomStream(1));
  const auto loops = schedule.get_loops(schedule.get_block("C"));
  schedule.sample_categorical({1, 2}, {0.5, 0.5});
  const Trace before = schedule.trace();
  schedule.enter_finishing();
  schedule.parallel(loops[0]);
  schedule.sample_categorical({1, 2}, {0.5, 0.5});
  EXPECT_EQ(schedule.trace().searchable(), before);
  EXPECT_TRUE(schedule.trace().complete());
  EXPECT_EQ(schedule.sampling_points().size(), 1U) << "what is finished is not searched";
  EXPECT_THROW(schedule.enter_finishing(), ScheduleError);
  EXPECT_THROW(schedule.clone().enter_finishing(), ScheduleError);
  const auto again = replay(program, schedule.trace());
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->trace(), schedule.trace());
  EXPECT_EQ(again->sampling_points().size(), 1U);
  EXPECT_EQ(to_string(again->program()), to_string(schedule.program()));
}

TEST(Schedule, ErrorsShowTheProgramAndThePlace) {
  const Program program = test::make_gmm(8, 8, 4);
  Schedule schedule(program);
  const auto loops = schedule.get_loops(schedule.get_block("C"));
  try {
    schedule.split(loops[1], {3, 2});
    FAIL();
  } catch (const ScheduleError& error) {
    EXPECT_EQ(std::string(error.what()),
              "split: the product of the factors is less than the extent (6 < 8)\n"
              "program gmm(A: f32[8, 4], B: f32[4, 8]) -> (C: f32[8, 8])\n"
              "  for i in 0..8:\n"
              "    for j in 0..8:\n"
              "    ^^^^^^^^^^^^^^\n"
              "      for k in 0..4:\n"
              "        block C(vi: spatial 8 = i, vj: spatial 8 = j, vk: reduction 4 = k):\n"
              "          init:\n"
              "            C[vi, vj] = 0.0\n"
              "          C[vi, vj] = C[vi, vj] + A[vi, vk]*B[vk, vj]\n");
    EXPECT_EQ(error.detail(), "6 < 8");
  }
}

TEST(Schedule, HandlesOfAnotherScheduleAreRefused) {
  const Program program = test::make_gmm(8, 8, 4);
  Schedule schedule(program);
  test::expect_refused(schedule, "parallel", "an argument is a variable of another schedule",
                       [&] { schedule.parallel(LoopRV{{7}}); });
  const BlockRV block = schedule.get_block("C");
  test::expect_refused(schedule, "parallel", "an argument has the wrong type",
                       [&] { schedule.parallel(LoopRV{{block.index}}); });
  test::expect_refused(schedule, "parallel", "wrong number of arguments",
                       [&] { schedule.execute(*InstructionRegistry::global().find("parallel"), {}); });
}

TEST(Replay, RepairedDecisionsAreWhatIsRecorded) {
  const Trace trace = Trace::parse(
      "b = get_block(\"C\")\n"
      "i, j, k = get_loops(b)\n"
      "x, y = sample_perfect_tile(i, n=2, max_innermost=8) @ [64, 8]\n"
      "v = sample_categorical([1, 2], [0.5, 0.5]) @ 9\n"
      "i0, i1 = split(i, [x, y])\n");
  // Made for another extent: 64 * 8 is not 24.
  const auto schedule = replay(test::make_gmm(24, 8, 4), trace);
  ASSERT_TRUE(schedule.has_value());
  EXPECT_EQ(schedule->trace()[2].decision, (Decision{3, 8}));
  EXPECT_EQ(schedule->trace()[3].decision, Decision{1});
  EXPECT_EQ(trace[2].decision, (Decision{64, 8}));
  EXPECT_EQ(schedule->sampling_points().size(), 2U);
  EXPECT_EQ(schedule->sampling_points()[0].position, 2U);
  EXPECT_EQ(schedule->sampling_points()[0].domain.extent, 24);
  const auto again = replay(test::make_gmm(24, 8, 4), schedule->trace());
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->trace(), schedule->trace());
}

TEST(Replay, OpenDecisionsAreDrawnFromTheStream) {
  const Trace trace = Trace::parse(
      "b = get_block(\"C\")\n"
      "i, j, k = get_loops(b)\n"
      "x, y, z = sample_perfect_tile(i, n=3, max_innermost=64)\n"
      "i0, i1, i2 = split(i, [x, y, z])\n");
  const Program program = test::make_gmm(1024, 8, 4);
  const auto a = replay(program, trace, RandomStream(1, 5));
  const auto b = replay(program, trace, RandomStream(1, 5));
  const auto c = replay(program, trace, RandomStream(1, 6));
  EXPECT_EQ(a->trace(), b->trace());
  EXPECT_NE(a->trace(), c->trace());
  EXPECT_TRUE(a->trace()[2].decision.has_value());
}

TEST(Replay, RefusalsAreValues) {
  const Program program = test::make_gmm(8, 8, 4);
  const auto refused = replay(program, Trace::parse("b = get_block(\"D\")\n"));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().reason(), "unknown block");
  const auto too_few = replay(program, Trace::parse("b = get_block(\"C\")\ni, j = get_loops(b)\n"));
  ASSERT_FALSE(too_few.has_value());
  EXPECT_EQ(too_few.error().reason(), "the trace expects another number of results");
}

/// A plugin's kind that fails half-way, so that the schedule must restore the program.
class HalfDone final : public InstructionKind {
 public:
  const std::string& name() const override { return name_; }
  InstructionSort sort() const override { return InstructionSort::Transformation; }
  const std::vector<ParamSpec>& params() const override { return params_; }
  ResultType result() const override { return ResultType::None; }
  bool keeps_on_throw() const override { return false; }
  ExecutionResult execute(Program& program, std::span<const Value> args, const Decision*, RandomStream&,
                          const TensorIntrinsics&) const override {
    program.annotations["half"] = std::get<int64_t>(args[0]);
    if (std::get<int64_t>(args[0]) == 0) throw ScheduleError(name_, "changed its mind", "", program);
    return {};
  }

 private:
  std::string name_ = "test_half_done";
  std::vector<ParamSpec> params_ = {{"number", ParamType::Int, /*keyword=*/true, Arg(int64_t{0})}};
};

TEST(Schedule, KindsCanComeFromOutside) {
  InstructionRegistry& registry = InstructionRegistry::global();
  registry.add(std::make_unique<HalfDone>());
  EXPECT_THROW(registry.add(std::make_unique<HalfDone>()), UserError);
  const InstructionKind& kind = *registry.find("test_half_done");
  const Program program = test::make_gmm(8, 8, 4);
  Schedule schedule(program);
  test::expect_refused(schedule, "test_half_done", "changed its mind", [&] { schedule.execute(kind, {}); });
  schedule.execute(kind, {int64_t{3}});
  EXPECT_EQ(schedule.trace().str(), "# tunesmith trace 2\ntest_half_done(number=3)\n");
  test::expect_replays(program, schedule);
  // An argument that is left out has its default, which the text also omits.
  EXPECT_EQ(Trace::parse("test_half_done()\n").str(), "# tunesmith trace 2\ntest_half_done()\n");
}

// All visitors of programs are recursive.
TEST(Schedule, LoopsNestNoDeeperThanALimit) {
  std::string text = "b0 = get_block(\"C\")\n";
  for (int i = 0; i < 20'000; ++i) text += "u" + std::to_string(i) + " = add_unit_loop(b0)\n";
  size_t refused_at = 0;
  const auto schedule = replay(test::make_gmm(8, 8, 4), Trace::parse(text), RandomStream(1), &refused_at);
  ASSERT_FALSE(schedule.has_value());
  EXPECT_EQ(schedule.error().reason(), "loops and blocks are nested too deeply");
  EXPECT_GT(refused_at, 400U);
  EXPECT_LT(refused_at, 600U);
}

}  // namespace
}  // namespace tunesmith
