// The space `cuda` from end to end: the worker verifies a search's candidates on the emulated device.
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "temporary_folder.h"
#include "tunesmith/measuring/worker_runner.h"
#include "tunesmith/records/record_store.h"
#include "tunesmith/tuning/tuner.h"
#include "tunesmith/workload/library.h"

namespace tunesmith {
namespace {

namespace fs = std::filesystem;

class TuneForADevice : public ::testing::TestWithParam<const char*> {
 protected:
  tunesmith::test::TemporaryFolder folder_;
};

TEST_P(TuneForADevice, FindsVerifiedProgramsWithModelledTimes) {
  PluginRegistry registry;
  const SpacesFile spaces = SpacesFile::load(TUNESMITH_SOURCE_DIR "/spaces.yaml");
  const Space space(spaces.space("cuda"), registry);
  const Workload workload = WorkloadLibrary().load(GetParam());
  RecordStore store(folder_ / "records.db");
  const std::unique_ptr<Runner> runner = make_worker_runner(
      workload, space.target(), {"cuda", {}, {TUNESMITH_BINARY_DIR "/lib/tunesmith/plugins"}}, {});
  TuneOptions options;
  options.trials = 8;
  options.batch = 4;
  const TuneResult result = tune(workload, space, store, *runner, Environment(), options);
  std::string failures;
  for (const auto& [cause, message] : result.first_failures) {
    failures += std::string(failure_cause_name(cause)) + ": " + message + "\n";
    // If NVRTC is installed, it may report that a program spills.
    EXPECT_TRUE(cause == FailureCause::VerifyLimits || cause == FailureCause::CompileError) << failures;
  }
  EXPECT_GE(result.valid, 3) << failures;
  EXPECT_LT(result.best_seconds, result.baseline_seconds);

  const std::vector<Record> records = store.list({});
  ASSERT_FALSE(records.empty());
  bool bound = false;
  for (const Record& record : records) {
    EXPECT_TRUE(record.modelled());
    EXPECT_THAT(record.target, ::testing::HasSubstr("times=modelled"));
    bound = bound || record.trace.find("\"block.x\"") != std::string::npos;
  }
  EXPECT_TRUE(bound);
}

// The best time so far is modelled: a thousand times as much may be less than the emulation's time.
TEST(WorkerForADevice, WaitsForWhatTheEmulationTakes) {
  PluginRegistry registry;
  const Space space(SpacesFile::load(TUNESMITH_SOURCE_DIR "/spaces.yaml").space("cuda"), registry);
  const Workload workload = WorkloadLibrary().load("gmm:n=160,m=160,k=160");
  MeasureOptions patient;
  patient.time_out_seconds = 100;
  const std::unique_ptr<Runner> runner = make_worker_runner(
      workload, space.target(), {"cuda", {}, {TUNESMITH_BINARY_DIR "/lib/tunesmith/plugins"}}, patient);
  const auto kernel = space.target().compile(lower_for(space.target(), workload.program), "unscheduled");
  ASSERT_TRUE(kernel) << kernel.error();
  const std::vector<MeasureRequest> requests{{&*kernel, 1e-9, false}};
  const MeasureResult result = runner->run(requests).front();
  EXPECT_TRUE(result.timing) << result.failure->message;
}

// It has no twin, so it runs at a shape for which the emulation is too slow.
TEST(WorkerForADevice, AReferenceThatTakesTooLongIsTheCandidatesFailure) {
  PluginRegistry registry;
  const Space space(SpacesFile::load(TUNESMITH_SOURCE_DIR "/spaces.yaml").space("cuda"), registry);
  const Workload workload = WorkloadLibrary().load("gmm:n=512,m=512,k=512");
  MeasureOptions hasty;
  hasty.time_out_seconds = 0.01;
  const std::unique_ptr<Runner> runner = make_worker_runner(
      workload, space.target(), {"cuda", {}, {TUNESMITH_BINARY_DIR "/lib/tunesmith/plugins"}}, hasty);
  const auto kernel = space.target().compile(lower_for(space.target(), workload.program), "unscheduled");
  ASSERT_TRUE(kernel) << kernel.error();
  const MeasureRequest request{&*kernel, 0.0, false};
  for (int again = 0; again < 2; ++again) {
    const MeasureResult result = runner->run({&request, 1}).front();
    ASSERT_TRUE(result.failure);
    EXPECT_EQ(result.failure->cause, FailureCause::TimeOut);
    EXPECT_THAT(result.failure->message, ::testing::HasSubstr("no reduced instance"));
  }
}

// A candidate's record names the shape on which it was verified.
TEST(TuneForALargeShape, VerifiesTwins) {
  const tunesmith::test::TemporaryFolder folder;
  PluginRegistry registry;
  const Space space(SpacesFile::load(TUNESMITH_SOURCE_DIR "/spaces.yaml").space("cuda"), registry);
  const Workload workload = WorkloadLibrary().load("gmm:n=1024,m=1024,k=1024");
  RecordStore store(folder / "records.db");
  const std::unique_ptr<Runner> runner = make_worker_runner(
      workload, space.target(), {"cuda", {}, {TUNESMITH_BINARY_DIR "/lib/tunesmith/plugins"}}, {});
  TuneOptions options;
  options.trials = 4;
  options.batch = 4;
  options.final_candidates = 1;
  const TuneResult result = tune(workload, space, store, *runner, Environment(), options);
  int64_t twins = 0;
  for (const auto& [key, count] : result.twins) {
    EXPECT_LT(WorkloadLibrary().load(key).flops, workload.flops / 8) << key;
    twins += count;
  }
  EXPECT_GE(twins, 1);
  EXPECT_EQ(twins, result.valid);
  for (const Record& record : store.list({.kind = MeasurementKind::Search})) {
    EXPECT_TRUE(!record.ok() || result.twins.contains(record.verified_on)) << record.verified_on;
  }
}

INSTANTIATE_TEST_SUITE_P(Workloads, TuneForADevice,
                         ::testing::Values("gmm:n=64,m=64,k=64", "gmm:n=13,m=17,k=19", "softmax:m=16,n=32",
                                           "conv2d:h=8,w=8,ci=4,co=8,kernel=3,padding=1",
                                           "dense_bias_gelu:n=16,m=32,k=24", "elementwise_chain:n=32,m=64"),
                         [](const auto& one) {
                           std::string name = one.param;
                           for (char& c : name)
                             c = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ? c : '_';
                           return name;
                         });

}  // namespace
}  // namespace tunesmith
