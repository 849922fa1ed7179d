// The parts of `tunesmith compare`.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <tunesmith/evaluation/comparison.h>
#include <tunesmith/evaluation/replay.h>
#include <tunesmith/workload/workload.h>

#include "commands.h"
#include "measuring.h"
#include "session.h"

namespace tunesmith::cli {

/// A way of searching: a space's searcher and cost model; on a live subject its modules, too.
struct Strategy {
  std::string name;
  std::unique_ptr<Session> session;
  SpaceSpec spec;
};

/// The subject of searches: a workload measured live, or a table.
struct Subject {
  std::string name;  // its name in the summary
  Workload workload;
  std::shared_ptr<const Table> table;  // null: live
};

/// A finished search, with what a later process needs to continue the comparison.
struct FinishedSearch {
  std::string key;    // identifies everything that determines the search; equal keys are one search
  std::string trace;  // the trace of its best program; "" if none worked
  SearchRun run;
};

/// Common settings of a comparison's searches.
struct CompareSettings {
  CompareArguments arguments;
  std::string command_line;
  std::shared_ptr<MachineLock> machine;  // for live searches
  const std::atomic<bool>* stop = nullptr;
};

/// A strategy on a subject: made once, searched with many seeds.
class Search {
 public:
  /// Throws UserError and EnvironmentError as composing a space does.
  Search(const Subject& subject, Strategy& strategy, const CompareSettings& settings);

  std::string key(uint64_t seed) const;
  /// When stopped, returns the incomplete search; callers must not keep it.
  FinishedSearch search(uint64_t seed);
  const Space& space() const { return *space_; }
  const Strategy& strategy() const { return strategy_; }
  /// Makes a runner for programs of a live subject.
  std::unique_ptr<Runner> runner() const { return measuring_->runner(subject_.workload); }

 private:
  const Subject& subject_;
  Strategy& strategy_;
  const Environment& environment() const;
  int threads() const;  // of the measured programs

  const CompareSettings& settings_;
  std::shared_ptr<MeasuringPlace> place_;  // place_ and measuring_: for a live subject only
  std::shared_ptr<const Space> space_;
  std::unique_ptr<Measuring> measuring_;
};

/// Times the best programs of one subject's live searches alternately, because the searches measured at
/// different moments, and stores the times in the runs. Programs with equal hashes are timed once.
void rank_together(const Subject& subject, const std::vector<Search*>& searches,
                   const std::vector<FinishedSearch*>& finished);

/// The file of --results: JSON lines, one for each finished search.
class ResultsFile {
 public:
  /// Reads the existing file; "": nothing is read or written. Throws UserError for an invalid file.
  explicit ResultsFile(std::string file);
  const FinishedSearch* find(const std::string& key) const;
  /// Throws EnvironmentError when it cannot be written.
  void add(const FinishedSearch& search);

 private:
  std::string file_;
  std::optional<uintmax_t> cut_at_;  // where an incomplete last line begins
  bool lacks_newline_ = false;       // the last line is complete but has no newline
  std::map<std::string, FinishedSearch> searches_;
};

/// The text above and below the figures.
struct CompareFacts {
  int64_t trials = 0;
  int seeds = 0;
  size_t searches = 0;  // finished
  size_t wanted = 0;
  bool interrupted = false;
};
void print_comparison(const Comparison& comparison, const CompareFacts& facts);
nlohmann::json comparison_json(const Comparison& comparison, const CompareFacts& facts);

/// JSON has no infinity: null means never.
nlohmann::json finite_or_null(double value);

}  // namespace tunesmith::cli
