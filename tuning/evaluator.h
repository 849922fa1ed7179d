// Builds, measures and records candidates.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include <tl/expected.hpp>

#include "measuring_watch.h"
#include "recorded_names.h"
#include "tunesmith/records/record_store.h"
#include "tunesmith/search/candidate.h"
#include "tunesmith/support/thread_pool.h"
#include "tunesmith/tuning/candidate_compiler.h"
#include "tunesmith/tuning/tuner.h"

namespace tunesmith {

/// A candidate with its code, or the compiler's message.
struct Built {
  CandidatePtr candidate;
  tl::expected<CandidateKernel, std::string> code;
};

/// The position of measurements in a run, for the records.
struct RoundRecord {
  int number = 0;                               // as Record::round
  std::unordered_map<uint64_t, double> scores;  // by lowered hash, as Record::score
};

class Evaluator {
 public:
  /// `common`: the fields that all records of the run share: task, workload, run, space, seed, environment.
  Evaluator(const Workload& workload, const Space& space, RecordStore& store, Runner& runner,
            const RecordedNames& names, Record common, const TuneOptions& options, const TuneHooks& hooks,
            ThreadPool& pool);

  /// Compiles on all threads of the pool; what the runner takes as candidates is not compiled. After a stop
  /// the remaining results are failures.
  std::vector<Built> build(std::span<const CandidatePtr> candidates);
  /// Measures at most at_once() candidates. `limit`: seconds of the best so far, 0 for none. `index`:
  /// position of the group's first in the run. When this returns, all results are stored with one sync to
  /// disk, without those that a stop may have ended.
  std::vector<Measured> measure(std::span<const Built> group, double limit, int64_t index,
                                const RoundRecord& round);
  /// Verifies recorded programs by the current check. The results are
  /// recorded with kind Bench, which does not affect their order.
  std::vector<Measured> check_again(std::span<const CandidatePtr> candidates);
  /// Records the results of a ranking.
  struct Ranked {
    CandidatePtr candidate;
    std::vector<double> samples;                   // not empty, unless it failed
    double seconds = 0.0;                          // at the quantile by which times are compared
    double prepare = 0.0;                          // of preparing constant inputs, measured before
    bool disturbed = false;                        // something else used the machine meanwhile
    std::string verified_on;                       // as in Record
    std::optional<CandidateFailure> failure = {};  // in the ranking
    std::vector<TimeAt> at = {};                   // as in Timing
  };
  void record_ranking(std::span<const Ranked> ranked);

  size_t at_once() const { return runner_.at_once(); }
  double build_seconds() const { return build_seconds_; }
  /// Held during computations that would disturb another run's measuring.
  MachineLock::Turn compute_turn() const;
  /// The number of programs verified as their twins, by the key of the smaller workload.
  const std::map<std::string, int64_t>& twins() const { return verified_twins_; }
  /// The number of successful measurements in disturbed moments.
  int64_t disturbed() const { return disturbed_; }
  /// Without the time spent waiting for the machine.
  double measure_seconds() const { return measure_seconds_; }
  /// For other users of the runner: its lifetime counts as measuring.
  MeasuringWatch measuring() { return MeasuringWatch(measure_seconds_, options_.machine.get()); }
  /// The median over all compilations so far; 0 if there was none.
  double median_compile_seconds() const;

 private:
  bool stopped() const { return hooks_.stop != nullptr && hooks_.stop->load(); }
  /// A result for each of the group.
  std::vector<MeasureResult> run(std::span<const Built> group, double limit);
  Record record_of(const Candidate& candidate) const;
  Record record_of(const Candidate& candidate, const MeasureResult& result) const;
  void add(std::span<const Record> records);

  RecordStore& store_;
  Runner& runner_;
  const RecordedNames& names_;
  const Record common_;
  const TuneOptions& options_;
  const TuneHooks& hooks_;
  ThreadPool& pool_;
  CandidateCompiler compiler_;
  std::map<std::string, int64_t> verified_twins_;
  std::vector<double> compile_seconds_;
  double build_seconds_ = 0.0;
  double measure_seconds_ = 0.0;
  int64_t disturbed_ = 0;
  int rankings_ = 0;
};

}  // namespace tunesmith
