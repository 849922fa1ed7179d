// The end of a run: checks and times programs again, and returns the best.
#include <algorithm>
#include <fstream>
#include <utility>

#include <fmt/format.h>

#include "tunesmith/measure/verifier_version.h"
#include "unit/tuning/tuner_fixture.h"

namespace tunesmith {
namespace {

/// Refuses the fastest program.
class LaterCheck final : public Runner {
 public:
  explicit LaterCheck(double seconds) : seconds_(seconds) {}

  std::vector<MeasureResult> run(std::span<const MeasureRequest> requests) override {
    std::vector<MeasureResult> results = good.run(requests);
    for (MeasureResult& result : results) {
      if (result.timing && result.timing->min == seconds_) {
        result = {};
        result.failure = CandidateFailure{FailureCause::WrongResult, "refused by a later check"};
      }
    }
    return results;
  }
  std::vector<InterleavedTimes> interleave(std::span<const CompiledKernel* const> kernels,
                                           const InterleaveOptions& options) override {
    return good.interleave(kernels, options);
  }

  ReplayingRunner good;

 private:
  double seconds_;
};

/// Copies a store as if an earlier check had accepted everything, with an invalid trace for the program
/// `damaged`.
void copy_with_verifier(const RecordStore& from, RecordStore& to, std::optional<int> verifier,
                        std::optional<uint64_t> damaged = std::nullopt) {
  for (const Environment& environment : from.environments()) to.add_environment(environment);
  for (Record record : from.list()) {
    to.add_workload(*from.workload(record.workload_hash, record.workload));
    to.add_space(*from.space(record.space, record.rules_hash));
    if (!to.run(record.run)) to.add_run(*from.run(record.run));
    record.verifier = verifier;
    if (damaged && record.lowered_hash == damaged) record.trace = "no trace";
    to.add(record);
  }
}

/// Ranks in a disturbed moment.
class DisturbedRunner final : public Runner {
 public:
  std::vector<MeasureResult> run(std::span<const MeasureRequest> requests) override {
    return good.run(requests);
  }
  std::vector<InterleavedTimes> interleave(std::span<const CompiledKernel* const> kernels,
                                           const InterleaveOptions& options) override {
    std::vector<InterleavedTimes> times = good.interleave(kernels, options);
    for (size_t i = 0; i < times.size(); ++i) times[i].disturbed = i == 0 ? times[i].samples.size() : 1;
    if (std::exchange(first_is_wrong, false)) {
      times[0] = {};
      times[0].failure = CandidateFailure{FailureCause::WrongResult, "made up"};
    }
    return times;
  }
  ReplayingRunner good;
  bool first_is_wrong = false;  // the first program, in its first rounds
};

TEST_F(TunerTest, ARankingRecordsWhatWasDisturbed) {
  DisturbedRunner runner;
  tune_into("r.db", runner);
  const RecordStore store(folder_ / "r.db", RecordStore::Mode::Existing);
  std::vector<bool> disturbed;
  for (const Record& record : store.list({.kind = MeasurementKind::Ranking}))
    disturbed.push_back(record.disturbed.value());
  ASSERT_GE(disturbed.size(), 5u);
  EXPECT_TRUE(disturbed.front()) << "where most samples are";
  EXPECT_EQ(std::ranges::count(disturbed, true), 1);
}

TEST_F(TunerTest, WhatIsWrongInTheRankingIsRecordedAndNotTheBest) {
  DisturbedRunner runner;
  runner.first_is_wrong = true;
  const TuneResult result = tune_into("r.db", runner);
  const RecordStore store(folder_ / "r.db", RecordStore::Mode::Existing);
  const std::vector<Record> wrong = store.list({.cause = FailureCause::WrongResult});
  ASSERT_EQ(wrong.size(), 1u);
  EXPECT_EQ(wrong.front().kind, MeasurementKind::Ranking);
  EXPECT_EQ(wrong.front().failure->message, "made up");
  const std::optional<Record> best = store.find(result.best_id);
  ASSERT_TRUE(best);
  EXPECT_NE(best->lowered_hash, wrong.front().lowered_hash);
}

/// All ranked programs but the last turn out wrong.
class WrongInRounds final : public Runner {
 public:
  std::vector<MeasureResult> run(std::span<const MeasureRequest> requests) override {
    return good.run(requests);
  }
  std::vector<InterleavedTimes> interleave(std::span<const CompiledKernel* const> kernels,
                                           const InterleaveOptions& options) override {
    std::vector<InterleavedTimes> times = good.interleave(kernels, options);
    for (size_t i = 0; i + 2 < times.size(); ++i) {  // the yardstick is behind them
      times[i] = {};
      times[i].failure = CandidateFailure{FailureCause::WrongResult, "made up"};
    }
    return times;
  }
  ReplayingRunner good;
};

TEST_F(TunerTest, WhatIsWrongInTheRankingNamesTheInstructionsThatItCalls) {
  std::ofstream(folder_ / "unit.yaml") << R"(extension: ranking_unit
target: llvm
intrinsics:
  - name: ranking_copy
    semantics: {inputs: {X: {shape: [4], dtype: f32}}, compute: "P[j<4] = X[j]", outputs: [P]}
    implementation: {arguments: [X], fragment: "ret <4 x float> %X"}
)";
  const SpacesFile spaces = SpacesFile::parse(R"(version: 1
spaces:
  s:
    target: {kind: llvm, with: [unit.yaml]}
    modules:
      - script:
          match: [C]
          trace: |
            z, i, j, k = get_loops(block)
            a, b = sample_perfect_tile(i, n=2, max_innermost=16)
            i0, i1 = split(i, [a, b])
            copy = cache_read(block, 1, "global")
            y, l, m = get_loops(copy)
            m0, m1 = split(m, [None, 4])
            called = tensorize(m1, "ranking_copy")
    search: {kind: random}
    cost_model: {kind: random}
)",
                                              (folder_ / "my.yaml").string());
  const Space space(spaces.space(""), registry_);
  RecordStore store(folder_ / "r.db");
  WrongInRounds runner;
  options_.trials = 8;
  tune(WorkloadLibrary().load("gmm:n=16,m=8,k=4"), space, store, runner, environment_, options_);
  const std::string called = fmt::format("made up; the program calls {}:6: tensor intrinsic ranking_copy",
                                         (folder_ / "unit.yaml").string());
  const std::vector<Record> wrong = store.list({.cause = FailureCause::WrongResult});
  EXPECT_FALSE(wrong.empty());
  EXPECT_TRUE(std::ranges::any_of(wrong, [&](const Record& one) { return one.failure->message == called; }));
}

TEST_F(TunerTest, WhatTuneAnswersIsWhatTheStoreCallsBest) {
  ReplayingRunner runner(5);
  const TuneResult result = tune_into("r.db", runner);
  const Workload tuned = workload();
  const SpacesFile spaces = SpacesFile::load(TUNESMITH_SOURCE_DIR "/spaces.yaml");
  const Space space(spaces.space(space_), registry_, target_);
  RecordStore store(folder_ / "r.db");
  const auto best =
      store.best({task_key(tuned, space, options_.measure_threads), environment_.machine(), {}}, 1);
  ASSERT_EQ(best.size(), 1u);
  EXPECT_EQ(best.front().id, result.best_id);
  EXPECT_EQ(best.front().kind, MeasurementKind::Ranking);
  EXPECT_EQ(best.front().seconds, result.best_seconds);
  EXPECT_GE(store.count({.kind = MeasurementKind::Ranking}), 5u);
  // Replayed without the space's modules, it is the measured program.
  SpaceSpec bare = spaces.space(space_);
  bare.modules.clear();
  const Space without(bare, registry_);
  const auto candidate =
      without.materialise(tuned.program, Trace::parse(best.front().trace), RandomStream(0));
  ASSERT_TRUE(candidate.has_value());
  EXPECT_EQ((*candidate)->lowered_hash, best.front().lowered_hash);
}

TEST_F(TunerTest, TheBestOnRecordIsTimedAgainByARunThatBeginsAfresh) {
  ReplayingRunner runner;
  const TuneResult first = tune_into("r.db", runner);
  EXPECT_FALSE(first.plain_alone);
  options_.trials = 2;
  options_.resume = false;
  const TuneResult second = tune_into("r.db", runner);
  EXPECT_TRUE(second.plain_alone);
  EXPECT_EQ(second.best_seconds, first.best_seconds);
  EXPECT_NE(second.best_id, first.best_id) << "it was measured again";
  EXPECT_TRUE(second.dropped.empty());
}

/// Loses its worker in rankings.
class LosingRankings final : public Runner {
 public:
  std::vector<MeasureResult> run(std::span<const MeasureRequest> requests) override {
    return good.run(requests);
  }
  std::vector<InterleavedTimes> interleave(std::span<const CompiledKernel* const> kernels,
                                           const InterleaveOptions& options) override {
    std::vector<InterleavedTimes> times = good.interleave(kernels, options);
    times.front() = {{}, 0, CandidateFailure{FailureCause::WorkerLost, "made up"}};
    return times;
  }
  ReplayingRunner good;
};

TEST_F(TunerTest, WhatIsNotTimedAgainIsSaidAndStaysTheBest) {
  ReplayingRunner runner;
  const TuneResult first = tune_into("r.db", runner);
  LosingRankings losing;
  options_.trials = 2;
  options_.resume = false;
  const TuneResult second = tune_into("r.db", losing);
  EXPECT_EQ(second.best_id, first.best_id);
  ASSERT_EQ(second.dropped.size(), 1U);
  EXPECT_EQ(second.dropped.front().record, first.best_id);
  EXPECT_EQ(second.dropped.front().why, "worker_lost, made up");
}

TEST_F(TunerTest, ATraceThatGivesItsProgramNoMoreIsSaidAndTheNextIsTheBest) {
  ReplayingRunner runner;
  const TuneResult first = tune_into("a.db", runner);
  {
    RecordStore damaged(folder_ / "damaged.db");
    const RecordStore whole(folder_ / "a.db");
    copy_with_verifier(whole, damaged, kVerifierVersion, whole.find(first.best_id)->lowered_hash);
  }
  const TuneResult second = tune_into("damaged.db", runner);
  EXPECT_NE(second.best_id, first.best_id);
  EXPECT_GT(second.best_seconds, first.best_seconds);
  ASSERT_EQ(second.dropped.size(), 1U);
  EXPECT_EQ(second.dropped.front().record, first.best_id);
}

class EarlierCheck : public TunerTest {};

TEST_F(EarlierCheck, WhatItAcceptedIsCheckedAgainBeforeItIsRanked) {
  ReplayingRunner runner;
  const TuneResult first = tune_into("a.db", runner);
  EXPECT_EQ(first.checked_again, 0);
  double fastest = first.best_seconds;
  for (const Record& record : records("a.db")) fastest = std::min(fastest, record.seconds);
  {
    RecordStore old(folder_ / "old.db");
    copy_with_verifier(RecordStore(folder_ / "a.db"), old, std::nullopt);
  }
  LaterCheck later(fastest);
  const TuneResult second = tune_into("old.db", later);
  EXPECT_EQ(second.resumed, options_.trials);
  EXPECT_EQ(second.checked_again, options_.final_candidates);
  EXPECT_EQ(second.refused_again, 1);
  EXPECT_GT(second.best_seconds, fastest);
  const RecordStore store(folder_ / "old.db");
  EXPECT_EQ(store.count({.cause = FailureCause::WrongResult}), 1U);
  EXPECT_EQ(store.count({.kind = MeasurementKind::Bench}), static_cast<size_t>(options_.final_candidates));
  const TuneResult third = tune_into("old.db", later);
  EXPECT_EQ(third.resumed, options_.trials) << "what is checked again is no trial";
  EXPECT_EQ(third.refused_again, 0) << "its refusal is on record";
}

TEST_F(EarlierCheck, OneOfThisVersionIsEnough) {
  ReplayingRunner runner;
  tune_into("a.db", runner);
  {
    RecordStore newer(folder_ / "newer.db");
    copy_with_verifier(RecordStore(folder_ / "a.db"), newer, kVerifierVersion);
  }
  EXPECT_EQ(tune_into("newer.db", runner).checked_again, 0);
}

}  // namespace
}  // namespace tunesmith
