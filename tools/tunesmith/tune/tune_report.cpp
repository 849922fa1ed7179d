#include "tune_report.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tunesmith/measuring/peak.h>
#include <tunesmith/target/separate_device.h>

#include "common/interval.h"
#include "output.h"
#include "plain_report.h"
#include "progress/progress.h"

namespace tunesmith::cli {
namespace {

nlohmann::json model_json(const TuneResult& result, const Space& space) {
  nlohmann::json batches = nlohmann::json::array();
  for (const ModelBatch& batch : result.model_batches) {
    batches.push_back({{"trials", batch.trials},
                       {"programs", batch.programs},
                       {"rank_correlation", batch.rank_correlation},
                       {"best_of_eighth", batch.best_of_eighth}});
  }
  return {{"id", space.spec().cost_model.id},
          {"batches", batches},
          {"dropped",
           result.model_dropped.empty() ? nlohmann::json(nullptr) : nlohmann::json(result.model_dropped)}};
}

/// Prints the most frequent reasons why drafts did not become candidates, if many did not.
void print_refusals(const TuneResult& result) {
  constexpr size_t kMaxReasons = 3;
  std::vector<std::pair<int64_t, std::string>> reasons;
  int64_t all = 0;
  for (const auto& [reason, count] : result.refusals) {
    reasons.emplace_back(count, reason);
    all += count;
  }
  if (all <= result.valid) return;
  std::ranges::stable_sort(reasons, std::ranges::greater(), &std::pair<int64_t, std::string>::first);
  fmt::print(output(), "  {} drafts from the space were rejected\n", all);
  for (size_t i = 0; i < std::min(kMaxReasons, reasons.size()); ++i) {
    const auto first = result.first_refusals.find(reasons[i].second);
    const bool named = first != result.first_refusals.end() && !first->second.empty();
    fmt::print(output(), "    {} times: {}{}\n", reasons[i].first, reasons[i].second,
               named ? fmt::format(" (the first: {})", first->second) : "");
  }
}

/// Prints the model's accuracy on each round before it learned the round; of many rounds, the last ones'
/// correlations.
void print_model(const TuneResult& result, const std::string& model) {
  constexpr size_t kMaxShown = 8;
  const std::vector<ModelBatch>& rounds = result.model_batches;
  if (!rounds.empty()) {
    std::string correlations;
    double best = 0.0;
    for (size_t i = 0; i < rounds.size(); ++i) {
      if (i + kMaxShown >= rounds.size()) correlations += fmt::format(" {:.2f}", rounds[i].rank_correlation);
      best += rounds[i].best_of_eighth / static_cast<double>(rounds.size());
    }
    const std::string of = rounds.size() > kMaxShown
                               ? fmt::format("in the last {} of {} rounds", kMaxShown, rounds.size())
                               : "by round";
    fmt::print(
        output(),
        "  model     {}: rank correlation{} {}; its top eighth reaches {:.2f} of the best speed of a round\n",
        model, correlations, of, best);
  }
}

void print_twins(const TuneResult& result) {
  if (result.twins.empty()) return;
  int64_t all = 0;
  auto most = result.twins.begin();
  for (auto one = result.twins.begin(); one != result.twins.end(); ++one) {
    all += one->second;
    if (one->second > most->second) most = one;
  }
  fmt::print(output(),
             "  {} verified as reduced instances, the same schedule on a smaller workload: {} of them {}{}\n",
             all, most->second, most->first,
             result.twins.size() > 1 ? fmt::format(", the others {} more", result.twins.size() - 1) : "");
}

template <typename Value>
nlohmann::json by_cause(const std::map<FailureCause, Value>& values) {
  nlohmann::json json = nlohmann::json::object();
  for (const auto& [cause, value] : values) json[std::string(failure_cause_name(cause))] = value;
  return json;
}

nlohmann::json dropped_json(const TuneResult& result) {
  nlohmann::json dropped = nlohmann::json::array();
  for (const NotRanked& one : result.dropped)
    dropped.push_back({{"record", one.record}, {"seconds", one.seconds}, {"why", one.why}});
  return dropped;
}

/// Adds the peak to which the speed of the best program relates.
void add_peak(nlohmann::json& json, const TuneResult& result, double gflops) {
  for (const char* name :
       {"peak_gflops", "peak_of", "peak_time_ms", "peak_disturbed", "peak_beside_gflops", "share_of_peak"})
    json[name] = nullptr;
  if (!result.peak) return;
  const double peak = result.peak->per_second * 1e-9;
  json["peak_gflops"] = peak;
  json["peak_of"] = result.peak->quantity;
  json["peak_time_ms"] = result.peak->time_ms;
  if (result.peak->disturbed) json["peak_disturbed"] = *result.peak->disturbed;
  json["peak_beside_gflops"] = result.peak_beside * 1e-9;
  json["share_of_peak"] = gflops / peak;
}

}  // namespace

nlohmann::json result_json(const TuneResult& result, const Workload& workload, const Space& space,
                           const Environment& environment) {
  const bool found = !result.best_id.empty();
  const auto number = [&](double value) { return found ? nlohmann::json(value) : nlohmann::json(nullptr); };
  const double gflops = found ? workload.flops / result.best_seconds * 1e-9 : 0.0;
  nlohmann::json json = {
      {"workload", workload.key},
      {"space", space.spec().name},
      {"target", space.target().identity()},
      {"environment", nlohmann::json::parse(environment.text())},
      {"trials", result.trials},
      {"valid", result.valid},
      {"resumed", result.resumed},
      {"known", result.known},
      {"lost", result.lost},
      {"checked_again", result.checked_again},
      {"refused_again", result.refused_again},
      {"dropped", dropped_json(result)},
      {"plain_alone", result.plain_alone},
      {"seeded", {{"records", result.seeded.records}, {"tasks", result.seeded.tasks}}},
      {"said", result.said},
      {"interrupted", result.interrupted},
      {"ended_because", result.ended_because},
      {"exhausted", result.exhausted},
      {"disturbed", result.disturbed},
      {"twins", result.twins},
      {"failures", by_cause(result.failures)},
      {"first_failures", by_cause(result.first_failures)},
      {"refusals", result.refusals},
      {"first_refusals", result.first_refusals},
      {"plain_blocks", plain_json(result.plain_blocks)},
      {"modelled", models_times(space.target())},
      {"best_seconds", number(result.best_seconds)},
      {"best_seconds_interval",
       result.best_time ? interval_json(*result.best_time) : nlohmann::json(nullptr)},
      {"best_samples",
       result.best_time ? nlohmann::json(result.best_time->samples) : nlohmann::json(nullptr)},
      {"prepare_seconds", found && result.best_prepare_seconds > 0
                              ? nlohmann::json(result.best_prepare_seconds)
                              : nlohmann::json(nullptr)},
      {"gflops", number(gflops)},
      {"rate_unit", operations_unit(computed_type(workload.program))},
      {"baseline_seconds",
       result.baseline_seconds > 0 ? nlohmann::json(result.baseline_seconds) : nlohmann::json(nullptr)},
      {"trace", found ? nlohmann::json(result.best_id) : nlohmann::json(nullptr)},
      {"trace_space", found ? nlohmann::json(result.best_space) : nlohmann::json(nullptr)},
      {"model", model_json(result, space)},
      {"median_compile_seconds", result.median_compile_seconds},
      {"wall_seconds", result.times.wall},
      {"seconds",
       {{"generate", result.times.generate},
        {"propose", result.times.propose},
        {"model", result.times.model},
        {"build", result.times.build},
        {"measure", result.times.measure},
        {"wait", result.times.wait}}}};
  add_peak(json, result, gflops);
  return json;
}

namespace {

/// For example "random, then evolutionary".
std::string searchers_text(const SpaceSpec& space) {
  std::string text;
  for (const SpaceSpec::Stage& stage : space.search)
    text += (text.empty() ? "" : ", then ") + stage.searcher.id;
  return text;
}

}  // namespace

void print_dropped(const TuneResult& result, const std::string& before) {
  for (const NotRanked& one : result.dropped) {
    fmt::print(output(), "{}record {}, the previous best with {}, could not be timed again: {}\n", before,
               one.record, seconds_text(one.seconds), one.why);
  }
}

namespace {

/// Prints the number of trials, and their outcomes.
void print_trials(const TuneResult& result, const SpaceSpec& space, int64_t wanted, uint64_t seed) {
  fmt::print(output(), "  search    {}, seed {}: {} trials, {} valid{}{}\n", searchers_text(space), seed,
             result.trials, result.valid,
             result.resumed > 0 ? fmt::format(", {} from records", result.resumed) : "",
             result.interrupted ? ", interrupted" : "");
  if (wanted > 0 && result.trials > wanted && result.resumed == result.trials)
    fmt::print(output(), "  {} requested, but more are recorded already: nothing was measured\n", wanted);
  if (result.seeded.records > 0) {
    fmt::print(output(), "  seeded by {} {} of {} similar {}\n", result.seeded.records,
               result.seeded.records == 1 ? "record" : "records", result.seeded.tasks,
               result.seeded.tasks == 1 ? "task" : "tasks");
  }
  print_twins(result);
  for (const auto& [cause, count] : result.failures) {
    fmt::print(output(), "  {} failed: {}, {}\n", count, failure_cause_name(cause),
               failure_cause_meaning(cause));
    const auto first = result.first_failures.find(cause);
    if (first != result.first_failures.end() && !first->second.empty())
      fmt::print(output(), "    the first: {}\n", first->second);
  }
  print_refusals(result);
  if (!result.model_dropped.empty()) {
    fmt::print(output(), "  model     {} was disabled: {}\n", space.cost_model.id, result.model_dropped);
  }
  if (result.exhausted) {
    fmt::print(output(), "  {}{} trials made: the search found no further program in space '{}'\n",
               result.trials, wanted > 0 ? fmt::format(" of {}", wanted) : "", space.name);
  }
  if (result.ended_because == "expected gain") {
    fmt::print(output(),
               "  stopped early: little gain expected from another round (--min-gain 0: continue)\n");
  }
  if (result.disturbed > 0) {
    fmt::print(output(), "  {} measured on a disturbed machine: they may be faster\n", result.disturbed);
  }
  if (result.plain_alone) {
    fmt::print(output(),
               "  only the baseline programs were measured: search starts with the trials after them\n");
  }
  print_dropped(result, "  ");
  if (result.checked_again > 0) {
    fmt::print(output(),
               "  {} of the fastest recorded programs had passed an earlier version of verification: "
               "verified again, {} rejected\n",
               result.checked_again, result.refused_again);
  }
}

/// Prints doubts about the peak to which the share refers.
void print_peak_remarks(const TuneResult& result, double flops, bool modelled) {
  constexpr std::string_view kOf = " of ";
  const double peak = result.peak->per_second;
  const std::string& quantity = result.peak->quantity;
  if (flops > peak) {
    const size_t at = quantity.find(kOf);
    fmt::print(output(),
               "            above 100 %: the peak is that of {}{}, and operations on padding\n            "
               "count even if a program skips them\n",
               at == std::string::npos ? "plain multiply-adds" : quantity.substr(at + kOf.size()),
               modelled ? "" : "and may be disturbed");
  } else if (result.peak->disturbed.value_or(false)) {
    fmt::print(output(),
               "            the peak was measured on a disturbed machine and may be higher;\n            "
               "every run measures it again\n");
  }
  constexpr double kFarBelow = 0.9;
  if (!modelled && result.peak_beside < kFarBelow * peak) {
    fmt::print(output(),
               "            beside the best program it reached {:.1f}: the machine was disturbed, and\n      "
               "      the program may be faster\n",
               result.peak_beside * 1e-9);
  }
}

/// Prints how fast the best program is, compared with the machine's peak and the unscheduled program.
void print_best(const TuneResult& result, const Workload& workload, bool modelled) {
  const double flops = workload.flops / result.best_seconds;
  fmt::print(output(), "  best      {}  ({})  {:.1f} {}{}\n", seconds_text(result.best_seconds),
             result.best_time ? interval_text(*result.best_time) : "not ranked: the smallest sample",
             flops * 1e-9, operations_unit(computed_type(workload.program)),
             result.peak ? fmt::format(", {:.1f} % of the {:.1f} peak {} on this machine",
                                       100.0 * flops / result.peak->per_second,
                                       result.peak->per_second * 1e-9, modelled ? "modelled" : "measured")
                         : "");
  if (modelled) print_modelled_note();
  if (result.peak) print_peak_remarks(result, flops, modelled);
  if (result.best_prepare_seconds > 0) {
    fmt::print(output(), "  prepare   {}  once, for constant inputs; not included in the times above\n",
               seconds_text(result.best_prepare_seconds));
  }
  if (result.baseline_seconds > 0) {
    fmt::print(output(), "  baseline  {}  unscheduled program: the best is {:.1f} times as fast\n",
               seconds_text(result.baseline_seconds), result.baseline_seconds / result.best_seconds);
  }
}

void print_times(const TuneResult& result) {
  const TuneTimes& times = result.times;
  fmt::print(
      output(),
      "  wall      {:.1f} s: generate {:.1f}, propose {:.1f}, model {:.1f}, build {:.1f}, measure {:.1f}{}; "
      "median compile {}\n",
      times.wall, times.generate, times.propose, times.model, times.build, times.measure,
      times.wait >= 0.1 ? fmt::format(", waiting for the machine {:.1f}", times.wait) : "",
      seconds_text(result.median_compile_seconds));
}

}  // namespace

void print_summary(const TuneResult& result, const Workload& workload, const Space& of_space, int64_t wanted,
                   const TuneArguments& arguments) {
  const SpaceSpec& space = of_space.spec();
  if (result.best_id.empty()) {
    fmt::print(output(), "{}: no valid program found\n", workload.key);
    print_trials(result, space, wanted, arguments.seed);
    return;
  }
  fmt::print(output(), "{}:\n", workload.key);
  print_best(result, workload, models_times(of_space.target()));
  fmt::print(output(), "  record    {}{}\n", result.best_id,
             result.best_space == space.name ? "" : fmt::format("  found in space '{}'", result.best_space));
  print_trials(result, space, wanted, arguments.seed);
  if (!arguments.verbose) return;
  print_model(result, space.cost_model.id);
  print_times(result);
}

}  // namespace tunesmith::cli
