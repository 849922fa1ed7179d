// Records a table: measures every program of a space as a search does, and again minutes later in another
// order, until two rounds of the program agree.
#include <algorithm>
#include <chrono>
#include <deque>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tunesmith/support/files.h>
#include <tunesmith/support/random.h>
#include <tunesmith/support/thread_pool.h>
#include <tunesmith/tuning/tuner.h>

#include "commands.h"
#include "common/exit_codes.h"
#include "common/interrupt.h"
#include "common/print_json.h"
#include "common/scratch_store.h"
#include "memory.h"
#include "output.h"
#include "progress/progress.h"
#include "tables.h"
#include "traces.h"

namespace tunesmith::cli {
namespace {

/// Requests per call of the runner; the tuning loop uses the same number.
constexpr size_t kGroup = 8;
/// Two rounds agree when the slower is at most this share slower.
constexpr double kAgreement = 0.05;

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Measures every program completely, however slow, and keeps its code for later rounds.
class RecordingRunner final : public Runner {
 public:
  struct Program {
    TableRow row;
    std::optional<CompiledKernel> kernel;  // none if the program did not compile
  };

  explicit RecordingRunner(Runner& runner) : runner_(runner) {}

  std::vector<MeasureResult> run(std::span<const MeasureRequest> requests) override {
    std::vector<MeasureRequest> unhurried(requests.begin(), requests.end());
    for (MeasureRequest& request : unhurried) request.limit_seconds = 0.0;
    const auto begin = std::chrono::steady_clock::now();
    std::vector<MeasureResult> results = runner_.run(unhurried);
    const double each = seconds_since(begin) / static_cast<double>(std::max<size_t>(1, requests.size()));
    for (const MeasureRequest& request : requests)
      pending_.push_back({*request.kernel, request.kernel->compile_seconds + each});
    return results;
  }

  std::vector<InterleavedTimes> interleave(std::span<const CompiledKernel* const> kernels,
                                           const InterleaveOptions& options) override {
    return runner_.interleave(kernels, options);
  }

  /// The callback TuneHooks::recorded: records arrive in the order of measuring.
  void note(const Record& record) {
    if (record.kind != MeasurementKind::Search) return;
    Program program;
    program.row.lowered_hash = record.lowered_hash;
    program.row.trace = record.trace;
    program.row.failure = record.failure;
    if (record.timing) program.row.rounds.push_back(record.timing->samples);
    if (!record.failure || record.failure->cause != FailureCause::CompileError) {
      program.kernel = std::move(pending_.front().kernel);
      program.row.cost = pending_.front().cost;
      pending_.pop_front();
    }
    programs.push_back(std::move(program));
  }

  std::vector<Program> programs;

 private:
  struct Pending {
    CompiledKernel kernel;
    double cost;
  };
  Runner& runner_;
  std::deque<Pending> pending_;
};

/// Working programs without two rounds that agree: other users of a machine slow it down for minutes.
std::vector<RecordingRunner::Program*> unsettled(std::vector<RecordingRunner::Program>& programs) {
  std::vector<RecordingRunner::Program*> left;
  for (RecordingRunner::Program& program : programs) {
    if (program.row.failure) continue;
    const std::optional<double> apart = rounds_apart(program.row);
    if (!apart || std::expm1(*apart) > kAgreement) left.push_back(&program);
  }
  return left;
}

/// Runs one more round in random order, so that a temporary
/// disturbance does not affect neighbours of the space.
void visit_again(std::vector<RecordingRunner::Program*> order, Runner& runner, RandomStream random,
                 const std::atomic<bool>& stop, const std::function<void(size_t)>& progress) {
  random.shuffle(order);
  for (size_t begin = 0; begin < order.size() && !stop; begin += kGroup) {
    const size_t end = std::min(begin + kGroup, order.size());
    std::vector<MeasureRequest> requests;
    for (size_t i = begin; i < end; ++i) requests.push_back({&*order[i]->kernel, 0.0});
    const std::vector<MeasureResult> results = runner.run(requests);
    if (stop) return;  // the stop may have caused the last failures
    for (size_t i = begin; i < end; ++i) {
      const MeasureResult& result = results[i - begin];
      TableRow& row = order[i]->row;
      if (result.timing) {
        row.rounds.push_back(result.timing->samples);
      } else if (!is_transient(result.failure->cause, result.disturbed.value_or(false))) {
        row.failure = result.failure;
        row.rounds.clear();
      }
    }
    progress(end);
  }
}

/// Requires that a table can be replayed: a space's extensions must be built in and not optional.
void require_pinned(const SpaceSpec& space) {
  for (const PluginUse& use : space.extensions) {
    if (use.optional)
      throw UserError(use.location,
                      fmt::format("a table's space cannot have the optional extension '{}?'", use.id),
                      fmt::format("write '{}', or remove it", use.id));
    if (use.id.ends_with(".yaml"))
      throw UserError(use.location, "a table's space cannot use an extension file",
                      "remove it, or use a plugin");
  }
}

Table begin_table(const Workload& workload, const SpaceSpec& spec, const Target& target,
                  PluginRegistry& registry, const Environment& environment, int threads) {
  Table table;
  table.workload = workload.key;
  table.definition = workload.definition;
  table.workload_hash = workload.hash;
  table.threads = threads;
  table.space.name = spec.name;
  table.space.location = spec.location;
  table.space.extensions = spec.extensions;
  table.space.modules = spec.modules;
  table.space.max_sketches = spec.max_sketches;
  table.identity = target.identity();
  table.target = task_target(target);
  table.device = target.device();
  table.limits = target.lower_options();
  table.limits.prepare = target.can_prepare();
  table.limits.intrinsics.clear();
  table.environment = environment;
  table.rules = Space(exhaustive_space(table), registry, make_table_target(table)).rules();
  return table;
}

/// Checks that every trace gives its program on the table's own target; otherwise replays could not find it.
void require_replayable(const Table& table, PluginRegistry& registry) {
  ThreadPool pool;
  const Space space(exhaustive_space(table), registry, make_table_target(table));
  const TableCheck check = check_table(table, space, pool);
  if (check.standing != table.rows.size()) {
    throw EnvironmentError(
        fmt::format("{} of {} programs differ between the table's target and '{}', whose lowering steps are "
                    "not the standard ones; its programs cannot be recorded as a table",
                    table.rows.size() - check.standing, table.rows.size(), table.identity));
  }
}

class RecordingProgress {
 public:
  explicit RecordingProgress(bool quiet) : quiet_(quiet), line_(quiet) {}

  void update(int round, int64_t done, int64_t total) {
    const std::string text = fmt::format("round {}: {}/{} programs", round, done, total);
    const int64_t tenth = 10 * done / std::max<int64_t>(total, 1);
    if (line_.active()) {
      line_.say(text);
    } else if (!quiet_ && (round != round_ || tenth > tenth_)) {
      fmt::print(stderr, "{}\n", text);
    }
    round_ = round;
    tenth_ = tenth;
  }
  void clear() { line_.clear(); }

 private:
  bool quiet_;
  LiveLine line_;
  int round_ = 0;
  int64_t tenth_ = 0;
};

/// For `--count`: the number of programs to record.
int count_programs(const Common& common, const TablesRecordArguments& arguments, const Table& table,
                   PluginRegistry& registry, const std::atomic<bool>& stop) {
  const Space replayed(exhaustive_space(table), registry, make_table_target(table));
  const size_t programs = enumerate_programs(table, replayed, arguments.programs, &stop).size();
  const bool all = static_cast<int64_t>(programs) < arguments.programs;
  if (common.json) {
    print_json({{"programs", programs}, {"all", all}});
  } else {
    fmt::print(output(), "{}: {}{} programs in space '{}'\n", table.workload, all ? "" : "more than ",
               programs, table.space.name);
  }
  return stop ? kInterrupted : kDone;
}

void print_recorded(const Common& common, const TablesRecordArguments& arguments, const Table& table) {
  if (common.json) {
    print_json({{"file", arguments.output}, {"programs", table.rows.size()}, {"complete", table.complete}});
  } else {
    fmt::print(output(), "{}: {}{}\n", arguments.output, table_text(table),
               table.complete ? "" : "; incomplete");
  }
}

}  // namespace

int run_tables_record(const Common& common, const TablesRecordArguments& arguments) {
  const std::atomic<bool>& stop = stop_on_interrupt("tunesmith: interrupted; nothing was written\n");
  if (!arguments.count) require_folder_of(arguments.output);
  const Workload workload = find_workload(arguments.workload, "");
  require_memory(workload, arguments.allow_memory);
  Session session(common);
  SpaceSpec spec = session.spec();
  require_pinned(spec);
  const SpaceSpec exhaustive = exhaustive_space({});
  spec.search = exhaustive.search;
  spec.cost_model = exhaustive.cost_model;
  const Space space(spec, session.registry());
  const int threads = arguments.threads > 0 ? arguments.threads : static_cast<int>(available_processors());
  const Environment environment = detect_environment(space.plugin_versions());
  Table table = begin_table(workload, spec, space.target(), session.registry(), environment, threads);
  table.command = common.command_line;
  table.recorded_ms = now_ms();

  if (arguments.count) return count_programs(common, arguments, table, session.registry(), stop);
  MeasureOptions measure;
  measure.threads = threads;
  measure.time_out_seconds = arguments.candidate_time_out;
  measure.stop = &stop;
  measure.machine = machine_lock();
  const std::unique_ptr<Runner> runner =
      make_worker_runner(workload, space.target(), session.worker_target(), measure);
  RecordingRunner recording(*runner);
  RecordingProgress progress(common.quiet);
  TuneOptions options;
  options.trials = arguments.programs;
  options.batch = kEnumeratedBatch;
  options.measure_threads = threads;
  options.final_candidates = 1;
  options.final_rounds = 1;
  options.resume = false;
  options.machine = measure.machine;
  options.command = common.command_line;
  TuneHooks hooks;
  hooks.stop = &stop;
  hooks.progress = [&](const TuneProgress& now) { progress.update(1, now.trials, now.total); };
  hooks.recorded = [&](const Record& record) {
    if (!stop) recording.note(record);
  };
  ScratchStore store;
  table.complete = tune(workload, space, *store, recording, environment, options, hooks).exhausted;
  for (int round = 2; round <= arguments.rounds && !stop; ++round) {
    const std::vector<RecordingRunner::Program*> left = unsettled(recording.programs);
    visit_again(left, *runner, RandomStream(arguments.seed, static_cast<uint64_t>(round)), stop,
                [&](size_t done) {
                  progress.update(round, static_cast<int64_t>(done), static_cast<int64_t>(left.size()));
                });
  }
  progress.clear();
  if (stop) return kInterrupted;
  for (RecordingRunner::Program& program : recording.programs) table.rows.push_back(std::move(program.row));
  require_replayable(table, session.registry());
  save_table(table, arguments.output);
  print_recorded(common, arguments, table);
  return kDone;
}

}  // namespace tunesmith::cli
