// Random small schedules with bound loops: the joined program computes, without races, what the schedule's
// loops compute in sequence; other schedules are refused.
#include <gtest/gtest.h>

#include "tunesmith/ir/visit.h"
#include "tunesmith/support/random.h"
#include "tunesmith/verification/interpreter.h"
#include "unit/grid/grid_machine.h"
#include "unit/lower/run_passes.h"

namespace tunesmith {
namespace {

using namespace test;

constexpr uint64_t kSchedules = 6000;
constexpr uint64_t kSteps = 12;

std::vector<Program> workloads() {
  std::vector<Program> programs;
  programs.push_back(gmm(8, 8, 8));
  programs.push_back(gmm(6, 5, 7));
  programs.push_back(program_of("X: {shape: [8, 12], dtype: f32}",
                                "T[i<8, j<12] = exp(X[i, j])\n  O[i<8, j<12] = T[i, 11 - j] + T[7 - i, j]"));
  programs.push_back(program_of("X: {shape: [6, 12], dtype: f32}",
                                "S[i<6] = sum(k<12) X[i, k]\n  O[i<6, j<12] = X[i, j] - S[i]"));
  programs.push_back(program_of("A: {shape: [8, 8], dtype: f32}, B: {shape: [8, 8], dtype: f32}",
                                "T[i<8, j<8] = sum(k<8) A[i, k] * B[k, j]\n  O[i<8, j<8] = max(T[i, j], 0)"));
  return programs;
}

class Scheduler {
 public:
  Scheduler(const Program& program, uint64_t index) : schedule_(program.clone()), random_(20260722, index) {}

  Schedule make() {
    for (uint64_t step = 0; step < kSteps; ++step) {
      Schedule before = schedule_.clone();
      try {
        act();
      } catch (const ScheduleError&) {
        schedule_ = std::move(before);
      }
    }
    return std::move(schedule_);
  }

 private:
  template <typename T>
  const T& pick(const std::vector<T>& list) {
    return list[random_.below(list.size())];
  }

  BlockRV random_block() {
    std::vector<std::string> names;
    for (const Block* block : schedule_.program().blocks()) names.push_back(block->name);
    return schedule_.get_block(pick(names));
  }

  LoopRV random_loop(BlockRV block) { return pick(schedule_.get_loops(block)); }

  std::string random_scope() { return pick(std::vector<std::string>{"global", "shared", "shared", "local"}); }

  std::string random_axis() {
    return pick(std::vector<std::string>{"block.x", "thread.x", "thread.x", "thread.y"});
  }

  void act() {
    const BlockRV block = random_block();
    switch (random_.below(15)) {
      case 0:
      case 1: {
        const int64_t factor = 2 + static_cast<int64_t>(random_.below(3));
        schedule_.split(random_loop(block), {std::nullopt, factor});
        return;
      }
      case 2:
      case 3:
      case 4:
        // Often the outermost loop, as launches need it.
        schedule_.bind(random_.below(3) == 0 ? schedule_.get_loops(block).front() : random_loop(block),
                       random_axis());
        return;
      case 5:
        schedule_.cache_read(block, static_cast<int>(random_.below(2)), random_scope());
        return;
      case 6:
        schedule_.cache_write(block, 0, random_scope());
        return;
      case 7:
        schedule_.compute_at(block, random_loop(random_block()));
        return;
      case 8:
        schedule_.reverse_compute_at(block, random_loop(random_block()));
        return;
      case 9:
        schedule_.set_scope(block, 0, random_scope());
        return;
      case 10: {
        const std::vector<LoopRV> loops = schedule_.get_loops(block);
        const size_t first = random_.below(loops.size());
        schedule_.fuse({loops[first], loops[std::min(first + 1, loops.size() - 1)]});
        return;
      }
      case 11:
        schedule_.decompose_reduction(block, random_loop(block));
        return;
      case 12:
        schedule_.software_pipeline(random_loop(block), 2 + static_cast<int64_t>(random_.below(4)));
        return;
      default:
        fetch_together(block);
    }
  }

  /// Copies an operand of the block under one of its loops, and divides the elements among the threads.
  void fetch_together(BlockRV block) {
    const BlockRV copy = schedule_.cache_read(block, static_cast<int>(random_.below(2)), "shared");
    const LoopRV at = random_loop(block);
    schedule_.compute_at(copy, at);
    std::vector<LoopRV> own = schedule_.get_loops(copy);
    while (!own.empty() && schedule_.get_child_blocks(own.front()).size() > 1) own.erase(own.begin());
    const auto threads = static_cast<int64_t>(2 + random_.below(7));
    const auto width = static_cast<int64_t>(1 + random_.below(3));
    const LoopRV all = own.size() == 1 ? own.front() : schedule_.fuse(own);
    const std::vector<LoopRV> parts = schedule_.split(all, {std::nullopt, threads, width});
    if (random_.below(2) == 0) schedule_.reorder({parts[1], parts[0], parts[2]});
    schedule_.bind(parts[1], "thread.x");
    if (random_.below(2) == 0) schedule_.software_pipeline(at, 2 + static_cast<int64_t>(random_.below(4)));
  }

  Schedule schedule_;
  RandomStream random_;
};

TEST(JoinThreadsRandom, JoinedProgramsComputeWhatTheirSchedulesDo) {
  const std::vector<Program> programs = workloads();
  size_t joined = 0;
  size_t with_barriers = 0;
  size_t left_outs = 0;
  size_t caught = 0;
  for (uint64_t index = 0; index < kSchedules; ++index) {
    const Program& program = programs[index % programs.size()];
    const Schedule schedule = Scheduler(program, index).make();
    LoweredProgram lowered;
    try {
      lowered = lowered_for_grid(schedule.program());
    } catch (const LowerError&) {
      continue;
    }
    const bool threads = find_first<Loop>(lowered.program.root(), [](const Loop& loop) {
                           return loop.loop_kind == LoopKind::Bound;
                         }) != nullptr;
    joined += threads ? 1 : 0;
    std::vector<Tensor> expected = random_arguments(program);
    interpret(program, expected);
    std::vector<Tensor> computed = random_arguments(program);
    ASSERT_NO_THROW(interpret(lowered, computed))
        << index << ":\n"
        << to_string(schedule.program()) << to_string(lowered.program);
    EXPECT_LT(max_error(computed.back(), expected.back()), 1e-4)
        << index << ":\n"
        << to_string(schedule.program()) << to_string(lowered.program);

    // Without one of its barriers, such a program is wrong, or does not need the barrier.
    const size_t barriers = collect<Barrier>(lowered.program.root()).size();
    with_barriers += barriers > 0 ? 1 : 0;
    for (size_t left_out = 0; left_out < barriers; ++left_out) {
      LoweredProgram wrong = lowered_for_grid(schedule.program());
      replace(*collect<Barrier>(wrong.program.root())[left_out], nullptr);
      std::vector<Tensor> arguments = random_arguments(program);
      ++left_outs;
      try {
        interpret(wrong, arguments);
      } catch (const InterpreterError&) {
        ++caught;
      }
    }
  }
  RecordProperty("joined", static_cast<int>(joined));
  RecordProperty("with_barriers", static_cast<int>(with_barriers));
  RecordProperty("left_outs", static_cast<int>(left_outs));
  RecordProperty("caught", static_cast<int>(caught));
  EXPECT_GE(joined, 1000u);
  EXPECT_GE(with_barriers, 400u);
  EXPECT_GE(caught, left_outs * 85 / 100) << "the rest are not needed";
}

}  // namespace
}  // namespace tunesmith
