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

/// A way of searching: a space's search and cost model, and live its modules, too.
struct Strategy {
  std::string name;
  std::unique_ptr<Session> session;
  SpaceSpec spec;
};

/// The subject of searches: a workload measured live, or a table.
struct Subject {
  std::string name;  // how the summary calls it
  Workload workload;
  std::shared_ptr<const Table> table;  // null: live
};

/// A search, with what a later process needs of it.
struct FinishedSearch {
  std::string key;    // of everything that determines the search; equal keys are one search
  std::string trace;  // of its best program; "" if none worked
  SearchRun run;
};

/// Common settings of a comparison's searches.
struct CompareSettings {
  CompareArguments arguments;
  std::string command_line;
  std::shared_ptr<MachineLock> machine;  // live
  const std::atomic<bool>* stop = nullptr;
};

/// A strategy on a subject: made once, searched with many seeds.
class Search {
 public:
  /// Throws UserError and EnvironmentError as composing a space does.
  Search(const Subject& subject, Strategy& strategy, const CompareSettings& settings);

  std::string key(uint64_t seed) const;
  /// When stopped, returns the incomplete search, which is not kept.
  FinishedSearch search(uint64_t seed);
  const Space& space() const { return *space_; }
  const Strategy& strategy() const { return strategy_; }
  /// Of a live subject, for programs of it.
  std::unique_ptr<Runner> runner() const { return measuring_->runner(subject_.workload); }

 private:
  const Subject& subject_;
  Strategy& strategy_;
  const Environment& environment() const;
  int threads() const;  // of the measured programs

  const CompareSettings& settings_;
  std::shared_ptr<MeasuringPlace> place_;  // this and measuring_ of a live subject
  std::shared_ptr<const Space> space_;
  std::unique_ptr<Measuring> measuring_;
};

/// Times the best programs of all live searches of one subject in turn and stores the times in the
/// runs, since the searches measured at different moments. Programs with equal hashes are timed once.
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
  std::optional<uintmax_t> cut_at_;  // the beginning of an incomplete last line
  bool lacks_newline_ = false;       // behind a last line that is whole
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
