#include "compiled_fuzz.h"

#include <fmt/format.h>

#include <tunesmith/ir/printer.h>
#include <tunesmith/ir/visit.h>
#include <tunesmith/verification/interpreter.h>

#include "lowered_program.h"
#include "random_scheduler.h"
#include "trace_check.h"

namespace tunesmith::fuzz {
namespace {

constexpr uint64_t kSteps = 24;
/// The interpreter finds races, and threads that wait for each other on a busy machine are slow.
constexpr uint64_t kPairsForOneWithThreads = 8;
/// Beyond this compiling and interpreting take too long.
constexpr int64_t kMaxInstances = 20000;

bool has_bound_loop(const Program& program) {
  bool found = false;
  walk(program.root(), [&](const Stmt& stmt) {
    const Loop* loop = stmt.as<Loop>();
    found = found || (loop != nullptr && loop->loop_kind == LoopKind::Bound);
  });
  return found;
}

}  // namespace

CompiledFuzz::CompiledFuzz(uint64_t seed) : seed_(seed), target_(testing::make_target()) {
  check_invariant(!test_intrinsics().empty(), "the intrinsics of the tests are there");
}

CompiledFuzz::Pair CompiledFuzz::make(uint64_t index) const {
  RandomStream random(seed_, index);
  Pair pair{random_workload(random), {}, {}};
  RandomScheduler scheduler(pair.workload.workload.program, random);
  const uint64_t steps = 1 + random.below(kSteps);
  const auto too_long = [&] { return scheduler.instances() >= kMaxInstances; };
  for (uint64_t s = 0; s < steps && !too_long(); ++s) scheduler.trusted_step();
  if (random.below(2) == 0) scheduler.finish();
  pair.trace = scheduler.schedule().trace();
  pair.scheduled = scheduler.schedule().program().clone();
  pair.too_long = too_long();
  return pair;
}

std::string CompiledFuzz::run(uint64_t index) {
  Pair pair;
  try {
    pair = make(index);
  } catch (const std::exception& error) {
    return fmt::format("seed {} pair {}: {}", seed_, index, error.what());
  }
  const Program& program = pair.workload.workload.program;
  if (pair.too_long) return "";
  const int threads = index % kPairsForOneWithThreads == 0 ? 2 : 1;
  std::string wrong = check(program, pair.scheduled, pair.workload.numbers, threads);
  if (wrong.empty()) return "";
  const TraceCheck checked = [&](const Program& of, const Trace& trace) -> std::string {
    const auto schedule = replay(of, trace);
    return schedule.has_value() ? check(of, schedule->program(), pair.workload.numbers, threads) : "";
  };
  const Trace small = shrink(program, pair.trace, checked);
  if (const std::string what = checked(program, small); !what.empty()) wrong = what;
  return fmt::format("seed {} pair {}, workload {}\n{}\ntrace:\n{}", seed_, index, pair.workload.text, wrong,
                     small.str());
}

std::string CompiledFuzz::text(uint64_t index) const {
  const Pair pair = make(index);
  return fmt::format("seed {} pair {}, workload {}\ntrace:\n{}", seed_, index, pair.workload.text,
                     pair.trace.str());
}

std::string CompiledFuzz::check(const Program& program, const Program& scheduled, Numbers numbers,
                                int threads) {
  // A processor has no thread axes.
  if (has_bound_loop(scheduled)) return "";
  try {
    const LoweredProgram lowered = lower(scheduled, target_->lower_options());
    std::vector<Tensor> expected = random_arguments(program, numbers);
    const std::vector<Tensor> given = testing::run_guarded(*target_, lowered, expected, threads);
    interpret(program, expected);
    ++compiled_;
    const std::string wrong = difference(expected, given, numbers);
    return wrong.empty() ? "" : wrong + "\n" + to_string(lowered.program);
  } catch (const LowerError&) {
    return "";  // a program that the target refuses is not wrong
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace tunesmith::fuzz
