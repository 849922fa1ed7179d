// After kill -9 of a tuning run at any moment, the store contains what it reported, and the same run
// continues from there.
#include <chrono>
#include <filesystem>
#include <set>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include <tunesmith/measuring/worker_runner.h>
#include <tunesmith/support/random.h>
#include <tunesmith/tuning/tuner.h>

#include "child.h"
#include "extended.h"
#include "temporary_folder.h"

namespace tunesmith {
namespace {

using test::Child;
using test::report_id;

namespace fs = std::filesystem;

// Programs, besides the two that need no search, differ in a number that their target ignores, except that
// one in seven crashes.
constexpr const char* kWorkload = R"(name: add_one
params: {n: 1000}
inputs:
  X: {shape: [n], dtype: f32}
compute: |
  O[i<n] = X[i] + 1
outputs: [O]
)";

int programs() { return test::usual_or_extended(300, 1000); }

/// All programs: programs(), and the two that need no search.
int64_t trials() { return programs() + 2; }

std::string space_text() {
  std::string among;
  for (int i = 0; i < programs(); ++i) among += (i == 0 ? "" : ", ") + std::to_string(i);
  return "version: 1\nspaces:\n  s:\n    target: {kind: faulty, crash_every: 7}\n    modules: "
         "[{choose_mistake: {among: [" +
         among + "]}}]\n    search: {kind: random}\n    cost_model: {kind: random}\n";
}

/// Tunes in a new process, which reports the id of each record.
int tune_and_report(const fs::path& path, int64_t trials, int report, uint64_t seed = 0) {
  PluginRegistry registry({.command_line = {{TEST_PLUGINS}}});
  const Space space(SpacesFile::parse(space_text(), "s.yaml").space(""), registry);
  const Workload workload = WorkloadDefinition::parse(kWorkload, "add_one.yaml").instantiate();
  MeasureOptions measure;
  measure.threads = 1;
  const SpaceSpec& spec = space.spec();
  const std::unique_ptr<Runner> runner = make_worker_runner(
      workload, space.target(), {spec.target.id, spec.target.options, {TEST_PLUGINS}}, measure);
  TuneOptions options;
  options.trials = trials;
  options.batch = 32;
  options.seed = seed;
  RecordStore store(path);
  TuneHooks hooks;
  hooks.recorded = [&](const Record& record) {
    if (record.kind == MeasurementKind::Search) report_id(report, record.id);
  };
  const TuneResult result = tune(workload, space, store, *runner, Environment(), options, hooks);
  return result.trials == trials ? 0 : 1;
}

TEST(TuneKill, NothingReportedIsLostAndTheRunIsResumed) {
  const test::TemporaryFolder folder;
  const fs::path path = folder / "records.db";
  RandomStream random(5, 0);
  std::set<std::string> reported;
  for (int round = 0; round < test::usual_or_extended(3, 12); ++round) {
    Child tuner([&](int report) { return tune_and_report(path, trials(), report); });
    // One round in three is killed at any moment, the others while it measures, however slow the machine is.
    if (round % 3 != 0) tuner.wait_for_report();
    std::this_thread::sleep_for(std::chrono::milliseconds(20 + random.below(200)));
    tuner.end(SIGKILL);
    for (const std::string& id : tuner.reported())
      EXPECT_TRUE(reported.insert(id).second) << id << " was measured a second time";
    const RecordStore store(path);
    const CheckReport check = store.check();
    EXPECT_TRUE(check.clean()) << check.faults.at(0);
    for (const std::string& id : reported) EXPECT_TRUE(store.find(id)) << id << " was reported and is lost";
  }
  EXPECT_GE(reported.size(), 3u) << "the rounds that wait for a report have one";
  const size_t kept = RecordStore(path).count({.kind = MeasurementKind::Search});
  Child last([&](int report) { return tune_and_report(path, trials(), report); });
  const int status = last.wait();
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_EQ(last.reported().size(), static_cast<size_t>(trials()) - kept);
  EXPECT_EQ(RecordStore(path).count({.kind = MeasurementKind::Search}), static_cast<size_t>(trials()));
  EXPECT_EQ(RecordStore(path).count({.cause = FailureCause::Crash}),
            static_cast<size_t>((programs() - 1) / 7))
      << "7, 14, ..";
}

/// The trials of each of two runs that exclude each other's programs; there are enough for both.
int64_t shared() { return programs() / 2 - 20; }

TEST(TuneKill, TwoRunsOfOneStoreThatAreKilledLoseNothingAndBothResume) {
  const test::TemporaryFolder folder;
  const fs::path path = folder / "records.db";
  RandomStream random(5, 1);
  std::set<std::string> reported;
  for (int round = 0; round < test::usual_or_extended(3, 20); ++round) {
    Child one([&](int report) { return tune_and_report(path, shared(), report, 1); });
    Child two([&](int report) { return tune_and_report(path, shared(), report, 2); });
    if (round % 3 != 0) one.wait_for_report();
    std::this_thread::sleep_for(std::chrono::milliseconds(20 + random.below(200)));
    one.end(SIGKILL);
    two.end(SIGKILL);
    for (const Child* tuner : {&one, &two}) {
      for (const std::string& id : tuner->reported()) reported.insert(id);
    }
    const RecordStore store(path);
    const CheckReport check = store.check();
    EXPECT_TRUE(check.clean()) << check.faults.at(0);
    for (const std::string& id : reported) EXPECT_TRUE(store.find(id)) << id << " was reported and is lost";
  }
  EXPECT_GE(reported.size(), 3u) << "the rounds that wait for a report have one";
  for (const uint64_t seed : {1, 2}) {
    Child last([&](int report) { return tune_and_report(path, shared(), report, seed); });
    const int status = last.wait();
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    for (const std::string& id : last.reported()) EXPECT_EQ(reported.count(id), 0u);
  }
  const RecordStore store(path);
  EXPECT_TRUE(store.check().clean());
  for (const std::string& id : reported) EXPECT_TRUE(store.find(id)) << id << " is lost";
}

}  // namespace
}  // namespace tunesmith
