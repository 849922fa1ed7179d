#include "compare.h"

#include <chrono>
#include <deque>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "common/exit_codes.h"
#include "common/interrupt.h"
#include "common/print_json.h"
#include "memory.h"
#include "output.h"
#include "progress/progress.h"
#include "traces.h"

namespace tunesmith::cli {
namespace {

bool is_file(const std::string& name) {
  return name.find('/') != std::string::npos || name.ends_with(".yaml") || name.ends_with(".yml");
}

/// --spaces holds names, and at most one file.
std::vector<Strategy> strategies_of(Common common, const CompareArguments& arguments) {
  std::vector<std::string> names;
  for (const std::string& name : arguments.spaces) {
    if (!is_file(name)) {
      names.push_back(name);
    } else if (common.spaces_file.empty()) {
      common.spaces_file = name;
    } else {
      throw UserError(fmt::format("--spaces takes one file, found '{}' and '{}'", common.spaces_file, name));
    }
  }
  if (!arguments.searchers.empty() && names.size() > 1)
    throw UserError("--searchers compares searchers of one space",
                    "give one space with --spaces, or remove --searchers");
  std::vector<Strategy> strategies;
  const auto add = [&](const std::string& space, const std::string& searcher) {
    common.space = space;
    Strategy strategy{searcher.empty() ? space : searcher, std::make_unique<Session>(common), {}};
    strategy.spec = strategy.session->spec();
    if (!searcher.empty()) strategy.spec.search = {{{searcher, {}, {}, false}, 0}};
    if (!arguments.runner.empty() && strategy.spec.runner.id != arguments.runner)
      strategy.spec.runner = {arguments.runner, SourceLocation{"--runner"}, {}, false};
    for (const Strategy& other : strategies) {
      if (other.name == strategy.name) throw UserError(fmt::format("'{}' is listed twice", other.name));
    }
    strategies.push_back(std::move(strategy));
  };
  if (arguments.searchers.empty()) {
    for (const std::string& name : names) add(name, "");
  } else {
    for (const std::string& searcher : arguments.searchers) add(names.empty() ? "" : names.front(), searcher);
  }
  if (strategies.size() < 2)
    throw UserError("nothing to compare", "give two or more with --spaces A,B or --searchers A,B");
  return strategies;
}

std::vector<Subject> subjects_of(const CompareArguments& arguments) {
  std::vector<Subject> subjects;
  for (const std::string& text : arguments.workloads) {
    Subject& subject = subjects.emplace_back();
    subject.workload = find_workload(text, "");
    require_memory(subject.workload, arguments.allow_memory);
    subject.name = subject.workload.key;
  }
  for (const std::string& file : arguments.tables) {
    Subject& subject = subjects.emplace_back();
    subject.table = std::make_shared<const Table>(load_table(file));
    subject.workload = workload_of(*subject.table);
    subject.name = fmt::format("{} ({})", subject.workload.key, file);
  }
  if (subjects.empty()) throw UserError("nothing to search", "give a workload, or a table with --table");
  return subjects;
}

class CompareProgress {
 public:
  using Clock = std::chrono::steady_clock;

  CompareProgress(bool quiet, size_t total) : quiet_(quiet), line_(quiet), total_(total) {}

  void begin(const std::string& strategy, uint64_t seed, const std::string& workload) {
    line_.say(
        fmt::format("search {}/{}{}  {} seed {} of {}", done_ + 1, total_, left(), strategy, seed, workload));
  }
  void end(bool searched) {
    ++done_;
    if (searched) ++searched_;
    const size_t tenth = 10 * done_ / total_;
    if (line_.active() || quiet_ || tenth == tenth_) return;
    tenth_ = tenth;
    fmt::print(stderr, "{}/{} searches{}\n", done_, total_, left());
  }
  LiveLine& line() { return line_; }

 private:
  std::string left() const {
    if (searched_ == 0) return "";
    const double spent = std::chrono::duration<double>(Clock::now() - began_).count();
    return fmt::format("  {} left", duration_text(spent / static_cast<double>(searched_) *
                                                  static_cast<double>(total_ - done_)));
  }

  bool quiet_;
  LiveLine line_;
  size_t total_;
  size_t done_ = 0;
  size_t searched_ = 0;  // searches that ran here, and were not read from a file
  size_t tenth_ = 0;
  Clock::time_point began_ = Clock::now();
};

/// One worker times all programs alternately, and a worker loads the code of one target.
void require_one_target(const std::deque<Search>& searches) {
  for (const Search& search : searches) {
    if (search.space().target().identity() == searches.front().space().target().identity()) continue;
    throw UserError(fmt::format("spaces '{}' and '{}' have different targets",
                                searches.front().strategy().name, search.strategy().name),
                    "compare spaces with the same target");
  }
}

/// Runs all strategies on one subject until stopped. Strategies alternate, so that changes of the machine
/// affect all of them.
std::deque<FinishedSearch> search_in_turn(std::deque<Search>& searches, const Subject& subject, int seeds,
                                          const std::atomic<bool>& stop, ResultsFile& results,
                                          CompareProgress& progress) {
  std::deque<FinishedSearch> finished;
  for (int seed = 0; seed < seeds && !stop; ++seed) {
    for (Search& search : searches) {
      if (stop) break;
      const auto number = static_cast<uint64_t>(seed);
      const FinishedSearch* known = results.find(search.key(number));
      if (known != nullptr) {
        finished.push_back(*known);
        finished.back().run.workload = subject.name;
      } else {
        progress.begin(search.strategy().name, number, subject.name);
        FinishedSearch now = search.search(number);
        if (stop) break;
        results.add(now);
        finished.push_back(std::move(now));
      }
      progress.end(known == nullptr);
    }
  }
  return finished;
}

}  // namespace

int run_compare(const Common& common, const CompareArguments& arguments) {
  const std::atomic<bool>& stop =
      stop_on_interrupt("tunesmith: interrupted; --results keeps finished searches\n");
  std::vector<Strategy> strategies = strategies_of(common, arguments);
  const std::vector<Subject> subjects = subjects_of(arguments);
  ResultsFile results(arguments.results);
  CompareFacts facts;
  facts.trials = arguments.trials;
  facts.seeds = arguments.seeds;
  facts.wanted = subjects.size() * strategies.size() * static_cast<size_t>(arguments.seeds);
  CompareProgress progress(common.quiet, facts.wanted);
  CompareSettings settings{arguments, common.command_line, nullptr, &stop};
  settings.machine = std::make_shared<MachineLock>(MachineLock::default_file(), [&](const std::string& text) {
    progress.line().clear();
    fmt::print(stderr, "tunesmith: {}\n", text);
  });

  std::vector<SearchRun> runs;
  std::map<std::string, double> best_known;
  for (const Subject& subject : subjects) {
    std::deque<Search> searches;
    for (Strategy& strategy : strategies) searches.emplace_back(subject, strategy, settings);
    if (!subject.table) require_one_target(searches);
    std::deque<FinishedSearch> finished =
        search_in_turn(searches, subject, arguments.seeds, stop, results, progress);
    if (subject.table) {
      best_known[subject.name] = TableRunner(*subject.table).best_seconds();
    } else if (!stop) {
      progress.line().say(fmt::format("timing the best programs of {} in turn", subject.name));
      std::vector<Search*> made;
      for (Search& search : searches) made.push_back(&search);
      std::vector<FinishedSearch*> ranked;
      for (FinishedSearch& one : finished) ranked.push_back(&one);
      rank_together(subject, made, ranked);
    }
    for (FinishedSearch& one : finished) runs.push_back(std::move(one.run));
  }
  progress.line().clear();
  facts.searches = runs.size();
  facts.interrupted = stop;
  std::vector<std::string> names;
  for (const Strategy& strategy : strategies) names.push_back(strategy.name);
  const Comparison comparison = compare_runs(runs, names, best_known);
  if (common.json) {
    print_json(comparison_json(comparison, facts));
  } else {
    print_comparison(comparison, facts);
  }
  return stop ? kInterrupted : kDone;
}

}  // namespace tunesmith::cli
