// Random workload x random instructions, compiled: the same as the unscheduled program interpreted, on
// guarded buffers. The environment makes a longer run, as of schedule_fuzz_test.cpp.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <tunesmith/interp/interpreter.h>
#include <tunesmith/ir/printer.h>

#include "lowered_program.h"
#include "random_scheduler.h"
#include "random_workload.h"
#include "trace_check.h"

namespace tunesmith::fuzz {
namespace {

constexpr uint64_t kSteps = 24;
/// Beyond this compiling and interpreting take too long.
constexpr int64_t kMostInstances = 20000;

bool has_bound_loop(const Program& program) {
  bool found = false;
  for_each_stmt(program.root(), [&](const Stmt& stmt) {
    const Loop* loop = stmt.as<Loop>();
    found = found || (loop != nullptr && loop->loop_kind == LoopKind::Bound);
  });
  return found;
}

class CompiledCheck {
 public:
  std::string operator()(const Program& program, const Trace& trace) {
    try {
      const auto schedule = replay(program, trace);
      // A processor has no thread axes.
      if (!schedule.has_value() || has_bound_loop(schedule->program())) return "";
      const LoweredProgram lowered = lower(schedule->program(), target_->lower_options());
      std::vector<Tensor> expected = testing::make_arguments(program);
      const std::vector<Tensor> given = testing::run_guarded(*target_, lowered, expected, 2);
      interpret(program, expected);
      ++compiled_;
      const std::string wrong = difference(expected, given);
      return wrong.empty() ? "" : wrong + "\n" + to_string(lowered.program);
    } catch (const LowerError&) {
      return "";  // a program that the target cannot take is no wrong one
    } catch (const std::exception& error) {
      return error.what();
    }
  }

  uint64_t compiled() const { return compiled_; }

 private:
  std::unique_ptr<llvm_target::LlvmTarget> target_ = testing::make_target();
  uint64_t compiled_ = 0;
};

TEST(CompiledFuzz, TracesKeepTheMeaning) {
  const uint64_t seed = from_environment("TUNESMITH_FUZZ_SEED", 1);
  const uint64_t pairs = from_environment("TUNESMITH_FUZZ_PAIRS", 300);
  const uint64_t first = from_environment("TUNESMITH_FUZZ_FIRST", 0);
  ASSERT_FALSE(test_intrinsics().empty());
  CompiledCheck check;
  Coverage coverage;
  for (uint64_t i = first; i < first + pairs; ++i) {
    RandomStream random(seed, i);
    const auto [text, workload] = random_workload(random);
    RandomScheduler scheduler(workload.program, random);
    const uint64_t steps = 1 + random.below(kSteps);
    for (uint64_t s = 0; s < steps && scheduler.instances() < kMostInstances; ++s)
      ASSERT_EQ(scheduler.step(coverage), "");
    if (scheduler.instances() >= kMostInstances) continue;
    const Trace& trace = scheduler.schedule().trace();
    // A program that crashes says no more.
    if (pairs == 1) fmt::print(stderr, "workload {}\ntrace:\n{}\n", text, trace.str());
    if (check(workload.program, trace).empty()) continue;
    const Trace small = shrink(workload.program, trace, std::ref(check));
    FAIL() << fmt::format("TUNESMITH_FUZZ_SEED={} pair {}, workload {}\n{}\ntrace:\n{}", seed, i, text,
                          check(workload.program, small), small.str());
  }
  EXPECT_GT(check.compiled(), pairs / 2);
}

}  // namespace
}  // namespace tunesmith::fuzz
