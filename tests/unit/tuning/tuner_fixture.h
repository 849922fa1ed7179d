// The tuning loop with a fake runner, which computes the time of a kernel from its code.
#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "temporary_folder.h"
#include "tunesmith/support/hash.h"
#include "tunesmith/tuning/tuner.h"
#include "tunesmith/workload/library.h"
#include "unit/tuning/uncompiled_target.h"

namespace tunesmith {

namespace fs = std::filesystem;

/// One in `failing` kernels fails, with a cause that follows from its code; 0: none.
class ReplayingRunner final : public Runner {
 public:
  explicit ReplayingRunner(uint64_t failing = 0) : failing_(failing) {}

  std::vector<MeasureResult> run(std::span<const MeasureRequest> requests) override {
    std::vector<MeasureResult> results;
    for (const MeasureRequest& request : requests) {
      ++runs;
      limits.push_back(request.limit_seconds);
      const uint64_t hash = hash_bytes(request.kernel->object);
      MeasureResult result;
      if (failing_ != 0 && hash % failing_ == 0) {
        const FailureCause cause = hash / failing_ % 2 == 0 ? FailureCause::Crash : FailureCause::WrongResult;
        result.failure = CandidateFailure{cause, "replayed"};
      } else {
        result.timing = make_timing({seconds(*request.kernel), 2 * seconds(*request.kernel)});
      }
      results.push_back(std::move(result));
    }
    return results;
  }

  std::vector<InterleavedTimes> interleave(std::span<const CompiledKernel* const> kernels,
                                           const InterleaveOptions& options) override {
    ++rankings;
    std::vector<InterleavedTimes> times;
    for (const CompiledKernel* kernel : kernels) {
      times.push_back({std::vector<double>(static_cast<size_t>(options.rounds), seconds(*kernel)), 0, {}});
    }
    return times;
  }

  int runs = 0;
  std::vector<double> limits;  // of the candidates, in their order
  int rankings = 0;

 private:
  static double seconds(const CompiledKernel& kernel) {
    return 1e-6 * static_cast<double>(1 + hash_bytes(kernel.object) % 1'000'000);
  }

  uint64_t failing_;
};

class TunerTest : public testing::Test {
 protected:
  static constexpr int64_t kPlainForms =
      2;  // of most workloads: unscheduled, and its outermost loop parallel

  TunerTest() {
    environment_.cpu_model = "Test";
    options_.trials = 24;
    options_.batch = 8;
    options_.seed = 7;
    options_.threads = 2;
  }

  Workload workload() const {
    return definition_.empty() ? WorkloadLibrary().load(workload_)
                               : WorkloadDefinition::parse(definition_, "test.yaml").instantiate();
  }

  TuneResult tune_into(const std::string& store_name, Runner& runner, const TuneHooks& hooks = {}) {
    const Workload workload = this->workload();
    const SpacesFile spaces = SpacesFile::load(TUNESMITH_SOURCE_DIR "/spaces.yaml");
    SpaceSpec spec = spaces.space(space_);
    if (!searcher_.empty()) spec.search = {{{searcher_, {}, {}, false}, 0}};
    const Space space(spec, registry_, target_);
    RecordStore store(folder_ / store_name);
    return tune(workload, space, store, runner, environment_, options_, hooks);
  }

  /// What the searches measured, in order.
  std::vector<Record> records(const std::string& store_name) const {
    return RecordStore(folder_ / store_name, RecordStore::Mode::Existing)
        .list({.kind = MeasurementKind::Search});
  }

  /// The trials in order with their results; without ids and dates.
  std::vector<std::string> story(const std::string& store_name) const {
    std::vector<std::string> lines;
    for (const Record& record : records(store_name)) {
      lines.push_back(record.trace + hex64(record.lowered_hash) +
                      (record.ok() ? std::to_string(record.timing->min)
                                   : std::string(failure_cause_name(record.failure->cause))));
    }
    return lines;
  }

  PluginRegistry registry_;
  const std::shared_ptr<Target> target_ = std::make_shared<UncompiledTarget>(registry_);
  test::TemporaryFolder folder_;
  Environment environment_;
  TuneOptions options_;
  std::string space_ = "cpu-random";
  std::string searcher_;  // instead of the space's, with its default options
  std::string workload_ = "gmm:n=32,m=48,k=16";
  std::string definition_;  // instead of workload_
};

}  // namespace tunesmith
