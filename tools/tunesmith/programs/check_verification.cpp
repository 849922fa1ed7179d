#include <algorithm>
#include <chrono>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tunesmith/evaluation/check_verification.h>
#include <tunesmith/support/error.h>
#include <tunesmith/workload/library.h>

#include "commands.h"
#include "common/exit_codes.h"
#include "common/print_json.h"
#include "output.h"

namespace tunesmith::cli {
namespace {

nlohmann::json to_json(const VerificationTally& tally) {
  return {{"right", tally.right},
          {"right_refused", tally.right_refused},
          {"wrong", tally.wrong},
          {"accepted", tally.accepted},
          {"equivalent", tally.equivalent},
          {"not_compiled", tally.not_compiled},
          {"hidden_denormals", tally.hidden},
          {"unwritten_registers", tally.undefined},
          {"kinds", tally.kinds}};
}

/// Describes planted mistakes that cannot change a result.
std::string hidden_text(int places) {
  return fmt::format(
      "not exercised: denormals flushed to zero at {} places, where rounding hides the difference", places);
}

/// Describes mistakes that the compiler is free to compile to right programs.
std::string undefined_text(int places) {
  return fmt::format("not exercised: unwritten registers at {} places, where the compiled program is correct",
                     places);
}

std::string to_text(const VerificationTally& tally) {
  return fmt::format(
      "{} wrong programs, {} accepted; {} equivalent, {} not compiled; {} right ones, {} refused",
      tally.wrong, tally.accepted, tally.equivalent, tally.not_compiled, tally.right, tally.right_refused);
}

/// Describes what was checked, with the results.
std::string total_text(const VerificationTally& all, size_t checked, size_t refused) {
  return fmt::format("total: {} kinds of mistakes in {} workloads ({} more refused): {}", all.kinds.size(),
                     checked, refused, to_text(all));
}

/// `text` with each of `types`, if the workload has a parameter dtype and `text` does not set it.
std::vector<std::string> in_types(const std::string& text, const std::vector<std::string>& types) {
  if (types.empty() || text.find("dtype=") != std::string::npos) return {text};
  const Workload workload = WorkloadLibrary().load(text);
  const bool has_type = std::any_of(workload.params.begin(), workload.params.end(),
                                    [](const WorkloadParam& param) { return param.name == "dtype"; });
  if (!has_type) return {text};
  std::vector<std::string> texts;
  for (const std::string& type : types)
    texts.push_back(fmt::format("{}{}dtype={}", text, text.find(':') == std::string::npos ? ':' : ',', type));
  return texts;
}

/// The requested workloads, or those of all suites, in all types.
std::vector<std::string> wanted_workloads(const CheckVerificationArguments& arguments) {
  std::vector<std::string> texts = arguments.workloads;
  if (texts.empty()) {
    for (const WorkloadSuite& row : WorkloadLibrary().suites())
      texts.insert(texts.end(), row.workloads.begin(), row.workloads.end());
  }
  std::vector<std::string> every;
  for (const std::string& text : texts) {
    for (std::string& typed : in_types(text, arguments.types)) every.push_back(std::move(typed));
  }
  return every;
}

VerificationCheckOptions check_options(const CheckVerificationArguments& arguments) {
  VerificationCheckOptions options{arguments.programs, arguments.sites, arguments.seed, {}};
  options.measure.threads = arguments.threads;
  options.measure.time_out_seconds = arguments.candidate_time_out;
  options.measure.min_repeats = options.measure.max_repeats = 1;
  options.measure.min_total_seconds = 0.0;
  return options;
}

}  // namespace

int run_workloads_check_verification(const Common& common, const CheckVerificationArguments& arguments) {
  Session session(common);
  const std::unique_ptr<Space> space = session.space();
  const VerificationCheckOptions options = check_options(arguments);
  const auto begin = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  const std::shared_ptr<MachineLock> machine = machine_lock();
  VerificationTally all;
  nlohmann::json rows = nlohmann::json::array();
  const std::vector<std::string> every = wanted_workloads(arguments);
  size_t refused = 0;
  size_t done = 0;
  for (const std::string& typed : every) {
    if (arguments.time_limit > 0 && seconds() > arguments.time_limit) break;
    ++done;
    if (!common.quiet) fmt::print(stderr, "[{} of {}, {:.0f} s] {}\n", done, every.size(), seconds(), typed);
    const Workload workload = WorkloadLibrary().load(typed);
    VerificationTally tally;
    try {
      tally = check_verification(workload, *space, session.worker_target(), *machine, options,
                                 [](const std::string& fault) { fmt::print(stderr, "  {}\n", fault); });
    } catch (const UserError& refusal) {
      // A refused workload is counted apart: verification accepts none of its mutants.
      ++refused;
      rows.push_back({{"workload", workload.key}, {"refused", refusal.what()}});
      if (!common.json) fmt::print(output(), "{}: {}\n", typed, refusal.what());
      continue;
    }
    all.add(tally);
    nlohmann::json row = to_json(tally);
    row["workload"] = workload.key;
    row["not_exercised"] = tally.not_exercised;
    rows.push_back(std::move(row));
    if (!common.json) {
      fmt::print(output(), "{}: {}\n", typed, to_text(tally));
      for (const std::string& left : tally.not_exercised)
        fmt::print(output(), "  not verified with {}\n", left);
      if (tally.hidden > 0) fmt::print(output(), "  {}\n", hidden_text(tally.hidden));
      if (tally.undefined > 0) fmt::print(output(), "  {}\n", undefined_text(tally.undefined));
    }
    std::fflush(output());
  }
  const size_t left = every.size() - done;
  if (common.json) {
    nlohmann::json result = to_json(all);
    result["workloads"] = rows;
    result["left_out"] = left;
    print_json(result);
  } else {
    fmt::print(output(), "\n{}\n", total_text(all, done - refused, refused));
    for (const auto& [kind, count] : all.kinds) fmt::print(output(), "{:6} {}\n", count, kind);
    if (all.hidden > 0) fmt::print(output(), "{}\n", hidden_text(all.hidden));
    if (all.undefined > 0) fmt::print(output(), "{}\n", undefined_text(all.undefined));
    if (left > 0) fmt::print(output(), "{} workloads left out: time limit reached\n", left);
  }
  return all.accepted == 0 && all.right_refused == 0 ? kDone : kNothingFound;
}

}  // namespace tunesmith::cli
