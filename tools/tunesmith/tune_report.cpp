#include "tune_report.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tunesmith/target/separate_device.h>

#include "interval.h"
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

/// The commonest reasons for which drafts never became candidates, where that is much of what was drawn.
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
  fmt::print(output(), "  {} drawn from the space were refused before they were candidates\n", all);
  for (size_t i = 0; i < std::min(kMaxReasons, reasons.size()); ++i) {
    const auto first = result.first_refusals.find(reasons[i].second);
    const bool named = first != result.first_refusals.end() && !first->second.empty();
    fmt::print(output(), "    {} times: {}{}\n", reasons[i].first, reasons[i].second,
               named ? fmt::format(" (the first: {})", first->second) : "");
  }
}

/// Of each round, before it was learned; of many rounds the last ones' correlations.
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
    fmt::print(output(),
               "  model     {}: rank correlation{} {}; its first eighth reaches {:.2f} of a round's best\n",
               model, correlations, of, best);
  }
  if (!result.model_dropped.empty())
    fmt::print(output(), "  model     {} was not asked any more: {}\n", model, result.model_dropped);
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
             "  {} verified as twins, the same schedules of smaller workloads: {} of them of {}{}\n", all,
             most->second, most->first,
             result.twins.size() > 1 ? fmt::format(", others of {} more", result.twins.size() - 1) : "");
}

}  // namespace

nlohmann::json result_json(const TuneResult& result, const Workload& workload, const Space& space,
                           const Environment& environment) {
  nlohmann::json failures = nlohmann::json::object();
  for (const auto& [cause, count] : result.failures) failures[std::string(failure_cause_name(cause))] = count;
  nlohmann::json first_failures = nlohmann::json::object();
  for (const auto& [cause, message] : result.first_failures)
    first_failures[std::string(failure_cause_name(cause))] = message;
  const bool found = !result.best_id.empty();
  const auto number = [&](double value) { return found ? nlohmann::json(value) : nlohmann::json(nullptr); };
  const double gflops = found ? workload.flops / result.best_seconds * 1e-9 : 0.0;
  const double peak = result.peak_operations_per_second * 1e-9;
  return {{"workload", workload.key},
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
          {"seeded", {{"records", result.seeded.records}, {"tasks", result.seeded.tasks}}},
          {"interrupted", result.interrupted},
          {"exhausted", result.exhausted},
          {"disturbed", result.disturbed},
          {"twins", result.twins},
          {"failures", failures},
          {"first_failures", first_failures},
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
          {"peak_gflops", peak > 0 ? nlohmann::json(peak) : nlohmann::json(nullptr)},
          {"share_of_peak", peak > 0 ? nlohmann::json(gflops / peak) : nlohmann::json(nullptr)},
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
}

namespace {

/// What was tried, and what became of it.
void print_trials(const TuneResult& result, const Workload& workload, const SpaceSpec& space,
                  int64_t wanted) {
  fmt::print(output(), "{}: {} trials, {} valid{}{}\n", workload.key, result.trials, result.valid,
             result.resumed > 0 ? fmt::format(", {} taken from the records", result.resumed) : "",
             result.interrupted ? ", interrupted" : "");
  if (wanted > 0 && result.trials > wanted && result.resumed == result.trials)
    fmt::print(output(), "  {} were asked for, and more are on record: nothing was measured\n", wanted);
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
  if (result.exhausted) {
    fmt::print(output(), "  {}{} trials were made: the search found no further program in space '{}'\n",
               result.trials, wanted > 0 ? fmt::format(" of {}", wanted) : "", space.name);
  }
  if (result.disturbed > 0) {
    fmt::print(output(), "  {} timed while something else used the machine: they may be faster\n",
               result.disturbed);
  }
  if (result.checked_again > 0) {
    fmt::print(output(),
               "  {} of the fastest on record had passed an earlier check: checked again, {} refused\n",
               result.checked_again, result.refused_again);
  }
}

/// How fast the best is, beside the machine's peak and the unscheduled program.
void print_best(const TuneResult& result, const Workload& workload, bool modelled) {
  const double flops = workload.flops / result.best_seconds;
  const double peak = result.peak_operations_per_second;
  fmt::print(output(), "  best      {}  ({})  {:.1f} GFLOP/s{}\n", seconds_text(result.best_seconds),
             result.best_time ? interval_text(*result.best_time) : "not ranked: its smallest sample",
             flops * 1e-9,
             peak > 0 ? fmt::format(", {:.1f} % of the peak of {:.1f} {} beside it", 100.0 * flops / peak,
                                    peak * 1e-9, modelled ? "modelled" : "measured")
                      : "");
  if (modelled) print_modelled_note();
  if (peak > 0 && flops > peak) {
    fmt::print(output(),
               "            above 100 %: the peak is of plain multiply-adds{}, and operations on padding\n"
               "            count although a program may skip them\n",
               modelled ? "" : " and may have been disturbed");
  }
  if (result.best_prepare_seconds > 0) {
    fmt::print(output(), "  prepare   {}  once, for constant inputs; not in the times above\n",
               seconds_text(result.best_prepare_seconds));
  }
  if (result.baseline_seconds > 0) {
    fmt::print(output(), "  baseline  {}  the unscheduled program: the best is {:.1f} times as fast\n",
               seconds_text(result.baseline_seconds), result.baseline_seconds / result.best_seconds);
  }
}

}  // namespace

void print_summary(const TuneResult& result, const Workload& workload, const Space& of_space,
                   int64_t wanted) {
  const SpaceSpec& space = of_space.spec();
  print_trials(result, workload, space, wanted);
  if (result.best_id.empty()) {
    fmt::print(output(), "  nothing valid was found\n");
    return;
  }
  print_best(result, workload, models_times(of_space.target()));
  fmt::print(output(), "  record    {}{}\n", result.best_id,
             result.best_space == space.name ? "" : fmt::format("  found in space '{}'", result.best_space));
  print_model(result, space.cost_model.id);
  const TuneTimes& times = result.times;
  fmt::print(
      output(),
      "  wall      {:.1f} s: generate {:.1f}, propose {:.1f}, model {:.1f}, build {:.1f}, measure {:.1f}{}; "
      "median compile {}\n",
      times.wall, times.generate, times.propose, times.model, times.build, times.measure,
      times.wait >= 0.1 ? fmt::format(", waiting for the machine {:.1f}", times.wait) : "",
      seconds_text(result.median_compile_seconds));
}

}  // namespace tunesmith::cli
