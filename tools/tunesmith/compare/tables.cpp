#include "tables.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tunesmith/tuning/tuner.h>

#include "commands.h"
#include "common/exit_codes.h"
#include "common/interrupt.h"
#include "common/print_json.h"
#include "common/scratch_store.h"
#include "output.h"
#include "progress/progress.h"

namespace tunesmith::cli {
namespace {

/// Returns the same time for any program: the command needs only the set of programs.
class NoTimes final : public Runner {
 public:
  std::vector<MeasureResult> run(std::span<const MeasureRequest> requests) override {
    std::vector<MeasureResult> results(requests.size());
    for (MeasureResult& result : results) result.timing = make_timing({1.0});
    return results;
  }
  std::vector<InterleavedTimes> interleave(std::span<const CompiledKernel* const> kernels,
                                           const InterleaveOptions& /*options*/) override {
    return std::vector<InterleavedTimes>(kernels.size());
  }
};

struct Fastest {
  double best = 0.0;
  double worst = 0.0;
  size_t failed = 0;
};

Fastest range_of(const Table& table) {
  Fastest range;
  for (const TableRow& row : table.rows) {
    const std::optional<double> seconds = seconds_of(row);
    if (!seconds) {
      ++range.failed;
      continue;
    }
    range.best = range.best == 0.0 ? *seconds : std::min(range.best, *seconds);
    range.worst = std::max(range.worst, *seconds);
  }
  return range;
}

/// The number of programs within this percentage of the fastest.
size_t programs_within(const Table& table, double best, double percent) {
  return static_cast<size_t>(std::ranges::count_if(table.rows, [&](const TableRow& row) {
    const std::optional<double> seconds = seconds_of(row);
    return seconds && *seconds <= best / (1.0 - percent / 100.0);
  }));
}

nlohmann::json show_json(const std::string& file, const Table& table) {
  const Fastest range = range_of(table);
  const TableNoise noise = noise_of(table);
  return {{"file", file},
          {"workload", table.workload},
          {"space", table.space.name},
          {"target", table.identity},
          {"threads", table.threads},
          {"complete", table.complete},
          {"programs", table.rows.size()},
          {"failed", range.failed},
          {"best_seconds", range.best},
          {"worst_seconds", range.worst},
          {"within_5_percent", programs_within(table, range.best, 5)},
          {"within_1_percent", programs_within(table, range.best, 1)},
          {"noise_median", noise.median},
          {"noise_90", noise.high},
          {"recorded_ms", table.recorded_ms},
          {"command", table.command},
          {"environment", nlohmann::json::parse(table.environment.text())}};
}

void print_show(const std::string& file, const Table& table) {
  const Fastest range = range_of(table);
  fmt::print(output(), "{}: {}\n  {}\n", file, table.workload, table_text(table));
  fmt::print(output(), "  {} programs within 5 % of the fastest, {} within 1 %\n",
             programs_within(table, range.best, 5), programs_within(table, range.best, 1));
  fmt::print(output(), "  space     {}{}\n", table.space.name,
             table.complete ? ", complete" : ", incomplete");
  fmt::print(output(), "  recorded  with {} threads on {}, by {}\n", table.threads,
             table.environment.cpu_model, table.identity);
}

}  // namespace

SpaceSpec exhaustive_space(const Table& table) {
  SpaceSpec search;
  search.name = table.space.name;
  search.search = {{{"exhaustive", {}, {}, false}, 0}};
  search.cost_model = {"random", {}, {}, false};
  return table_space(table, search);
}

std::vector<uint64_t> enumerate_programs(const Table& table, const Space& space, int64_t most,
                                         const std::atomic<bool>* stop) {
  std::vector<uint64_t> hashes;
  TuneOptions options;
  options.trials = most;
  options.batch = kEnumeratedBatch;
  options.final_candidates = 1;
  options.final_rounds = 1;
  options.resume = false;
  TuneHooks hooks;
  hooks.stop = stop;
  hooks.recorded = [&](const Record& record) {
    if (record.kind == MeasurementKind::Search) hashes.push_back(record.lowered_hash);
  };
  ScratchStore store;
  NoTimes runner;
  tune(workload_of(table), space, *store, runner, table.environment, options, hooks);
  return hashes;
}

std::string table_text(const Table& table) {
  const Fastest range = range_of(table);
  const TableNoise noise = noise_of(table);
  std::string text = fmt::format("{} programs", table.rows.size());
  if (range.failed > 0) text += fmt::format(", {} of them failed", range.failed);
  if (range.best > 0.0)
    text += fmt::format(", {} to {}", seconds_text(range.best), seconds_text(range.worst));
  if (noise.programs > 0) {
    text += fmt::format("; two rounds differ by {:.1f} % (median), {:.1f} % (one program in ten by more)",
                        100.0 * std::expm1(noise.median), 100.0 * std::expm1(noise.high));
  }
  return text;
}

int run_tables_show(const Common& common, const TablesArguments& arguments) {
  nlohmann::json all = nlohmann::json::array();
  for (const std::string& file : arguments.files) {
    const Table table = load_table(file);
    if (common.json) {
      all.push_back(show_json(file, table));
    } else {
      print_show(file, table);
    }
  }
  if (common.json) print_json({{"tables", all}});
  return kDone;
}

int run_tables_check(const Common& common, const TablesArguments& arguments) {
  const std::atomic<bool>& stop = stop_on_interrupt("tunesmith: interrupted\n");
  Session session(common);
  ThreadPool pool;
  nlohmann::json all = nlohmann::json::array();
  bool good = true;
  for (const std::string& file : arguments.files) {
    if (stop) return kInterrupted;
    const Table table = load_table(file);
    const Space space(exhaustive_space(table), session.registry(), make_table_target(table));
    const TableCheck check = check_table(table, space, pool);
    std::unordered_set<uint64_t> known;
    for (const TableRow& row : table.rows) known.insert(row.lowered_hash);
    size_t missing = 0;
    if (table.complete) {
      // A space that has not changed cannot have twice as many programs as the table has rows.
      const auto most = static_cast<int64_t>(2 * table.rows.size() + 64);
      for (const uint64_t hash : enumerate_programs(table, space, most, &stop))
        if (!known.contains(hash)) ++missing;
      if (stop) return kInterrupted;
    }
    good = good && check.changed == 0 && check.lost == 0 && missing == 0;
    if (common.json) {
      all.push_back({{"file", file},
                     {"programs", table.rows.size()},
                     {"standing", check.standing},
                     {"changed", check.changed},
                     {"merged", check.merged},
                     {"lost", check.lost},
                     {"missing", missing},
                     {"same_rules", check.same_rules}});
      continue;
    }
    fmt::print(output(), "{}: {} of {} programs are unchanged since they were recorded\n", file,
               check.standing, table.rows.size());
    if (!check.same_rules) fmt::print(output(), "  the modules' options differ from those at recording\n");
    if (check.changed > 0) {
      fmt::print(
          output(),
          "  {} traces now give a different lowered program{}: 'tunesmith tables rehash' moves their times "
          "to it\n",
          check.changed,
          check.merged > 0 ? fmt::format(", {} of them the program of another trace", check.merged) : "");
    }
    if (check.lost > 0)
      fmt::print(output(), "  {} traces no longer replay; the first: {}\n", check.lost, check.first_lost);
    if (missing > 0)
      fmt::print(output(),
                 "  {} programs of the current space have no recorded time; searches reject them as drafts\n",
                 missing);
  }
  if (common.json) print_json({{"tables", all}});
  return good ? kDone : kNothingFound;
}

int run_tables_rehash(const Common& common, const TablesArguments& arguments) {
  Session session(common);
  ThreadPool pool;
  const Table table = load_table(arguments.files.front());
  const Space space(exhaustive_space(table), session.registry(), make_table_target(table));
  const Table rehashed = rehash_table(table, space, pool);
  save_table(rehashed, arguments.output);
  if (common.json) {
    print_json({{"file", arguments.output},
                {"programs", rehashed.rows.size()},
                {"left_out", table.rows.size() - rehashed.rows.size()}});
  } else {
    fmt::print(
        output(),
        "{}: {} programs, {} left out; the times were measured with the lowering version of the recording\n",
        arguments.output, rehashed.rows.size(), table.rows.size() - rehashed.rows.size());
  }
  return kDone;
}

}  // namespace tunesmith::cli
