// Random instructions on random workloads keep the interpreted results; refused calls change nothing; traces
// can be read back and replayed.
//
// The environment variables TUNESMITH_FUZZ_PAIRS and TUNESMITH_FUZZ_SEED make longer or other runs.
#include <cstdlib>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <tunesmith/ir/printer.h>

#include "random_scheduler.h"
#include "random_workload.h"
#include "trace_check.h"

namespace tunesmith::fuzz {
namespace {

constexpr int kSteps = 24;
/// Beyond this the interpreter takes too long.
constexpr int64_t kMaxInstances = 60000;

/// "", or the fault with the smallest trace that shows it.
std::string fuzz_once(uint64_t seed, uint64_t index, Coverage& coverage) {
  RandomStream random(seed, index);
  const auto [text, workload, numbers] = random_workload(random);
  RandomScheduler scheduler(workload.program, random);
  const uint64_t steps = 1 + random.below(kSteps);
  const auto report = [&, name = text](const std::string& what, const Trace& trace) {
    return fmt::format("TUNESMITH_FUZZ_SEED={} pair {}, workload {}\n{}\ntrace:\n{}", seed, index, name, what,
                       trace.str());
  };
  for (uint64_t i = 0; i < steps && scheduler.instances() < kMaxInstances; ++i) {
    const std::string wrong = scheduler.step(coverage);
    if (!wrong.empty()) return report(wrong, scheduler.schedule().trace());
  }
  const Trace& trace = scheduler.schedule().trace();
  const Trace parsed = Trace::parse(trace.str());
  if (parsed != trace) return report("the text reads back as another trace", trace);
  const auto again = replay(workload.program, parsed);
  if (!again.has_value()) return report(std::string("the replay is refused: ") + again.error().what(), trace);
  if (to_string(again->program()) != to_string(scheduler.schedule().program()) || again->trace() != trace) {
    return report("the replay gives another program", trace);
  }
  if (scheduler.instances() >= kMaxInstances) return "";
  const TraceCheck check = [how = numbers](const Program& program, const Trace& candidate) {
    return check_trace(program, candidate, how);
  };
  const auto checked = [&, &program = workload.program](const Trace& candidate) -> std::string {
    if (check(program, candidate).empty()) return "";
    const Trace small = shrink(program, candidate, check);
    return report(check(program, small), small);
  };
  std::string wrong = checked(trace);
  // Like a search: the same trace with one decision changed, and with all decisions drawn again.
  for (const SamplingPoint& point : scheduler.schedule().sampling_points()) {
    const auto changed = point.kind->mutate(point.domain, *trace[point.position].decision, random);
    if (wrong.empty() && changed.has_value()) wrong = checked(trace.with_decision(point.position, *changed));
  }
  const auto drawn = replay(workload.program, trace.with_open_decisions(), RandomStream(random.next()));
  if (wrong.empty() && drawn.has_value()) wrong = checked(drawn->trace());
  return wrong;
}

TEST(ScheduleFuzz, TracesKeepTheMeaning) {
  const uint64_t seed = from_environment("TUNESMITH_FUZZ_SEED", 1);
  const uint64_t pairs = from_environment("TUNESMITH_FUZZ_PAIRS", 2000);
  const uint64_t first = from_environment("TUNESMITH_FUZZ_FIRST", 0);
  ASSERT_FALSE(test_intrinsics().empty());
  Coverage coverage;
  int failures = 0;
  for (uint64_t i = first; i < first + pairs && failures < 5; ++i) {
    const std::string wrong = fuzz_once(seed, i, coverage);
    if (wrong.empty()) continue;
    ++failures;
    ADD_FAILURE() << wrong;
  }
  for (const std::string& name : InstructionRegistry::global().names()) {
    EXPECT_TRUE(pairs < 2000 || coverage[name].done > 0) << name << " was never done";
  }
  if (std::getenv("TUNESMITH_FUZZ_COVERAGE") != nullptr) {
    for (const auto& [name, count] : coverage) {
      fmt::print("{:>8} {}\n", count.done, name);
      for (const auto& [reason, times] : count.refused) fmt::print("        {:>8} {}\n", times, reason);
    }
  }
}

}  // namespace
}  // namespace tunesmith::fuzz
