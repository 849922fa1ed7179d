#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tunesmith/lower/lower.h>
#include <tunesmith/measuring/peak.h>
#include <tunesmith/measuring/worker_runner.h>
#include <tunesmith/support/thread_pool.h>
#include <tunesmith/target/benchmarking.h>
#include <tunesmith/target/separate_device.h>
#include <tunesmith/tuning/candidate_compiler.h>
#include <tunesmith/tuning/quiet_samples.h>

#include "commands.h"
#include "common/exit_codes.h"
#include "common/interrupt.h"
#include "common/interval.h"
#include "common/print_json.h"
#include "memory.h"
#include "output.h"
#include "peaks.h"
#include "progress/progress.h"
#include "traces.h"

namespace tunesmith::cli {
namespace {

constexpr const char* kUnscheduled = "unscheduled";
constexpr std::string_view kSpacePrefix = "space:";
constexpr const char* kBenchSymbol = "tunesmith_bench";

/// One program of one workload.
struct Entry {
  std::string name;
  CandidateKernel code;
  double verified_error = 0.0;
  double prepare_seconds = 0.0;  // 0: the program prepares nothing
  std::string failure;           // why the program has no time
  std::vector<double> samples;
  QuantileInterval time;  // set if there are samples
  size_t disturbed = 0;   // number of disturbed samples
};

struct ComparedWorkload {
  Workload workload;
  std::vector<Entry> entries;
  std::vector<double> peak_samples;
  double peak_operations = 0.0;
  std::string peak_unit;    // PeakKernel::unit
  double known_peak = 0.0;  // the highest recorded peak, in operations a second
};

/// Resolves `what`: "unscheduled", "space:NAME" (its best record), a
/// record's id, a trace's file, or "" (the best record of all spaces).
Entry make_entry(const std::string& what, const Common& common, const BenchArguments& arguments,
                 const Workload& workload, const std::string& typed, const Space& space, int threads) {
  Entry entry;
  entry.name = what;
  const auto made = [&](auto compiled) {
    if (!compiled) throw EnvironmentError(fmt::format("{} does not compile: {}", what, compiled.error()));
    return std::move(*compiled);
  };
  const auto compile = [&](const Space& of, const std::string& trace) {
    const CandidatePtr candidate = materialise(of, workload, load_trace(trace, arguments.database));
    entry.code = made(CandidateCompiler(workload, of).compile(*candidate, kBenchSymbol));
  };
  if (what == kUnscheduled) {
    entry.code.kernel =
        made(space.target().compile(lower_for(space.target(), workload.program), kBenchSymbol));
    return entry;
  }
  if (what.starts_with(kSpacePrefix)) {
    Common other = common;
    other.space = what.substr(kSpacePrefix.size());
    Session session(other);
    const std::unique_ptr<Space> its = session.space();
    if (its->target().identity() != space.target().identity()) {
      throw UserError(
          fmt::format("space '{}' is of another target than '{}'", other.space, space.spec().name),
          "compare spaces with the same target");
    }
    const Record best =
        best_records(workload, *its, {arguments.database, threads}, typed, 1, other.space).front();
    compile(*its, best.id);
    return entry;
  }
  const std::string name =
      what.empty()
          ? best_records(workload, space, {arguments.database, threads}, typed, 1, common.space).front().id
          : what;
  if (what.empty()) entry.name = "record " + name;
  compile(space, name);
  return entry;
}

std::string failure_text(const CandidateFailure& failure) {
  return fmt::format("{}: {}", failure_cause_name(failure.cause), failure.message);
}

/// When `stop` is set, programs without a time get that as their failure.
void measure(ComparedWorkload& comparison, Runner& runner, const Space& space, int threads, int rounds) {
  std::vector<const CompiledKernel*> kernels;
  std::vector<Entry*> timed;
  for (Entry& entry : comparison.entries) {
    const MeasureRequest request{.kernel = &entry.code.kernel, .instance = entry.code.instance.get()};
    const MeasureResult result = runner.run({&request, 1}).front();
    if (result.failure) {
      entry.failure = failure_text(*result.failure);
      continue;
    }
    entry.verified_error = result.verified_error;
    entry.prepare_seconds = result.timing->prepare;
    timed.push_back(&entry);
    kernels.push_back(&entry.code.kernel);
  }
  const PeakKernel peak = peak_kernel(space, comparison.workload.program, threads);
  comparison.peak_operations = peak.operations;
  comparison.peak_unit = peak.unit;
  const bool has_peak = peak.operations > 0.0;
  if (has_peak) kernels.push_back(&peak.kernel);
  // Takes as many rounds as requested, however long they take.
  const InterleaveOptions options{
      .rounds = rounds, .min_rounds = rounds, .yardstick = has_peak ? &peak.kernel : nullptr};
  std::vector<InterleavedTimes> times = runner.interleave(kernels, options);
  std::vector<std::span<const double>> in_turn;
  for (size_t i = 0; i < timed.size(); ++i) {
    timed[i]->samples = std::move(times[i].samples);
    timed[i]->disturbed = times[i].disturbed;
    if (const auto& failure = times[i].failure) timed[i]->failure = failure_text(*failure);
    in_turn.emplace_back(timed[i]->samples);
  }
  const std::vector<std::vector<double>> quiet = quiet_samples(in_turn);
  for (size_t i = 0; i < timed.size(); ++i) {
    if (!quiet[i].empty()) timed[i]->time = quiet_time(in_turn[i], quiet[i]);
  }
  if (has_peak) comparison.peak_samples = std::move(times.back().samples);
  for (Entry& entry : comparison.entries) {
    if (entry.failure.empty() && entry.samples.empty()) entry.failure = "not timed";
  }
}

/// The peak measured beside the programs, in operations a second.
double peak_beside(const ComparedWorkload& comparison) {
  if (comparison.peak_samples.empty()) return 0.0;
  return comparison.peak_operations / quantile_interval(comparison.peak_samples, kTimeQuantile).value;
}

nlohmann::json to_json(const ComparedWorkload& comparison) {
  const double beside = peak_beside(comparison);
  const double peak = std::max(beside, comparison.known_peak);
  nlohmann::json entries = nlohmann::json::array();
  double first = 0.0;
  for (const Entry& entry : comparison.entries) {
    nlohmann::json one{{"name", entry.name}};
    if (!entry.failure.empty()) {
      one["failure"] = entry.failure;
    } else {
      const QuantileInterval& time = entry.time;
      if (first == 0.0) first = time.value;
      one.update({{"seconds", time.value},
                  {"seconds_interval", interval_json(time)},
                  {"interval", interval_text(time)},
                  {"samples", time.samples},
                  {"disturbed", entry.disturbed},
                  {"gflops", comparison.workload.flops / time.value * 1e-9},
                  {"share_of_peak", peak > 0 ? nlohmann::json(comparison.workload.flops / time.value / peak)
                                             : nlohmann::json(nullptr)},
                  {"gbytes_per_second", comparison.workload.bytes_min / time.value * 1e-9},
                  {"times_of_first", time.value / first},
                  {"prepare_seconds", entry.prepare_seconds > 0 ? nlohmann::json(entry.prepare_seconds)
                                                                : nlohmann::json(nullptr)},
                  {"verified_error", entry.verified_error}});
    }
    entries.push_back(std::move(one));
  }
  return {{"workload", comparison.workload.key},
          {"peak_gflops", peak * 1e-9},
          {"peak_beside_gflops", beside * 1e-9},
          {"peak_unit", comparison.peak_unit},
          {"rate_unit", operations_unit(computed_type(comparison.workload.program))},
          {"entries", entries}};
}

void print(const nlohmann::json& comparison, bool modelled) {
  const double peak = comparison.at("peak_gflops");
  const std::string unit = comparison.at("peak_unit");
  const std::string rate = comparison.at("rate_unit");
  const std::string operations = unit.empty() ? "plain multiply-adds" : unit;
  fmt::print(output(), "{}: {}\n", comparison.at("workload").get<std::string>(),
             peak > 0 ? fmt::format("{} peak {:.1f} {} of {}", modelled ? "modelled" : "measured", peak, rate,
                                    operations)
                      : "peak not measured");
  fmt::print(output(), "  {:<26} {:>10}  {:<28} {:>9} {:>7} {:>8} {:>8}\n", "", "time", "interval", rate,
             "of peak", "GB/s", "of first");
  bool above = false;
  for (const nlohmann::json& entry : comparison.at("entries")) {
    const std::string name = entry.at("name");
    if (entry.contains("failure")) {
      fmt::print(output(), "  {:<26} {}\n", name, entry.at("failure").get<std::string>());
      continue;
    }
    const auto number = [&](const char* key) { return entry.at(key).get<double>(); };
    const nlohmann::json& share = entry.at("share_of_peak");
    above = above || (share.is_number() && share > 1.0);
    fmt::print(output(), "  {:<26} {:>10}  {:<28} {:>9.1f} {:>7} {:>8.1f} {:>8.2f}\n", name,
               seconds_text(number("seconds")), entry.at("interval").get<std::string>(), number("gflops"),
               share.is_null() ? "-" : fmt::format("{:.1f} %", 100 * share.get<double>()),
               number("gbytes_per_second"), number("times_of_first"));
    if (2 * entry.at("disturbed").get<size_t>() > entry.at("samples").get<size_t>())
      fmt::print(output(), "  {:<26} measured on a disturbed machine: it may be faster\n", "");
    if (const nlohmann::json& prepare = entry.at("prepare_seconds"); !prepare.is_null())
      fmt::print(output(), "  {:<26} {:>10}  once, not in the time above\n", "  preparing its constants",
                 seconds_text(prepare));
  }
  if (above)
    fmt::print(output(), "  above 100 %: the peak is that of {}{}, and operations on padding count\n",
               operations, modelled ? "" : "and may be disturbed");
  constexpr double kFarBelow = 0.9;
  const double beside = comparison.at("peak_beside_gflops");
  if (!modelled && beside > 0 && beside < kFarBelow * peak)
    fmt::print(output(),
               "  the peak measured beside these programs was {:.1f}: the machine was disturbed, and they "
               "may be faster\n",
               beside);
}

}  // namespace

int run_bench(const Common& common, const BenchArguments& arguments) {
  const std::atomic<bool>& stop = stop_on_interrupt("tunesmith: interrupted\n");
  Session session(common);
  const std::unique_ptr<Space> space = session.space();
  const int threads = arguments.threads > 0 ? arguments.threads : static_cast<int>(available_processors());
  MeasureOptions options;
  options.stop = &stop;
  options.threads = arguments.threads;
  options.time_out_seconds = arguments.candidate_time_out;
  options.machine = machine_lock();

  // Refuse everything that must be refused before anything is timed.
  std::vector<ComparedWorkload> comparisons;
  for (const std::string& text : arguments.workloads) {
    ComparedWorkload& comparison = comparisons.emplace_back();
    comparison.workload = find_workload(text, arguments.database);
    require_memory(comparison.workload, arguments.allow_memory);
    std::vector<std::string> named{arguments.trace};
    named.insert(named.end(), arguments.compare.begin(), arguments.compare.end());
    for (const std::string& what : named) {
      comparison.entries.push_back(
          make_entry(what, common, arguments, comparison.workload, text, *space, threads));
    }
  }
  nlohmann::json results = nlohmann::json::array();
  bool whole = true;
  for (ComparedWorkload& comparison : comparisons) {
    if (stop) break;
    const std::unique_ptr<Runner> runner =
        make_worker_runner(comparison.workload, space->target(), session.worker_target(), options);
    measure(comparison, *runner, *space, threads, arguments.rounds);
    comparison.known_peak =
        known_roof(arguments.database, *space, threads,
                   operations_roof(computed_type(comparison.workload.program), comparison.peak_unit));
    for (const Entry& entry : comparison.entries) whole = whole && entry.failure.empty();
    results.push_back(to_json(comparison));
    const bool modelled = models_times(space->target());
    if (!common.json) print(results.back(), modelled);
    if (!common.json && modelled) print_modelled_note();
    std::fflush(output());  // so that results are kept, whatever follows
  }
  if (stop && !common.json)
    fmt::print(output(), "interrupted: {} of {} workloads were started\n", results.size(),
               comparisons.size());
  if (common.json) {
    const Environment environment = detect_environment(space->plugin_versions());
    print_json({{"target", space->target().identity()},
                {"modelled", models_times(space->target())},
                {"environment", nlohmann::json::parse(environment.text())},
                {"rounds", arguments.rounds},
                {"threads", threads},
                {"interrupted", stop.load()},
                {"benchmarks", results}});
  }
  if (stop) return kInterrupted;
  return whole ? kDone : kNothingFound;
}

}  // namespace tunesmith::cli
