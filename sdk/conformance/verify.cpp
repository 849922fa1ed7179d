#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "checks.h"
#include "isolate.h"

namespace tunesmith::conformance {
namespace {

namespace fs = std::filesystem;

std::span<const Check> suite_of(PluginKind kind) {
  switch (kind) {
    case PluginKind::Module:
      return module_checks();
    case PluginKind::Target:
      return target_checks();
    case PluginKind::Extension:
      return extension_checks();
    case PluginKind::Searcher:
      return searcher_checks();
    case PluginKind::CostModel:
      return cost_model_checks();
    case PluginKind::TaskScheduler:
      return task_scheduler_checks();
    case PluginKind::Importer:
      return importer_checks();
    case PluginKind::Runner:
      return runner_checks();
  }
  throw InternalError("a kind of plugin without a suite");
}

std::string full_name(const CheckResult& result) {
  return fmt::format("{}:{}/{}", kind_name(result.kind), result.id, result.check);
}

/// Marks expected failures as such, and an expected failure that passes as a fault.
void apply_expectations(Report& report, const std::vector<Expectation>& expected) {
  for (CheckResult& result : report.results) {
    const auto found = std::ranges::find_if(
        expected, [&](const Expectation& each) { return each.check == full_name(result); });
    if (found == expected.end()) continue;
    if (result.outcome == Outcome::Failed) {
      result.outcome = Outcome::ExpectedFailure;
      result.reason = fmt::format("{} ({})", found->reason, result.reason);
    } else if (result.outcome == Outcome::Passed) {
      result.outcome = Outcome::UnexpectedPass;
      result.reason = fmt::format("it was expected to fail: {}; remove the expectation", found->reason);
    }
  }
}

void require_checks(const std::vector<std::string>& names) {
  std::vector<std::string> known;
  for (const Check& check : common_checks()) known.emplace_back(check.name);
  for (const PluginKind kind : kPluginKinds) {
    for (const Check& check : suite_of(kind)) known.emplace_back(check.name);
  }
  for (const std::string& name : names) {
    if (std::ranges::find(known, name) != known.end()) continue;
    const std::string nearest = nearest_name(name, known);
    throw UserError(fmt::format("unknown check '{}'", name),
                    nearest.empty() ? "'tunesmith plugins verify' lists them"
                                    : fmt::format("did you mean '{}'?", nearest));
  }
}

/// Is `place` the manifest, its folder, or the folder above?
bool belongs_to(const fs::path& manifest, const fs::path& place) {
  return manifest == place || manifest.parent_path() == place ||
         manifest.parent_path().parent_path() == place;
}

CheckResult refused_at_search(const PluginLogEntry& entry) {
  CheckResult result;
  result.id = entry.path.filename().string();
  result.check = "found";
  result.outcome = Outcome::Failed;
  result.reason = fmt::format("{}: {}", entry.path.string(), entry.detail);
  return result;
}

}  // namespace

std::string_view outcome_name(Outcome outcome) {
  switch (outcome) {
    case Outcome::Passed:
      return "passed";
    case Outcome::Failed:
      return "failed";
    case Outcome::Skipped:
      return "skipped";
    case Outcome::Unsupported:
      return "unsupported";
    case Outcome::ExpectedFailure:
      return "expected failure";
    case Outcome::UnexpectedPass:
      return "unexpected pass";
  }
  throw InternalError("an outcome without a name");
}

Expectation Expectation::parse(std::string_view text) {
  const size_t equals = text.find('=');
  const size_t slash = text.find('/');
  const size_t colon = text.find(':');
  if (equals == std::string_view::npos || equals + 1 == text.size() || slash > equals || colon > slash) {
    throw UserError(fmt::format("'{}' is no expectation", text), "write KIND:ID/CHECK=REASON, with a reason");
  }
  return {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

bool Report::ok() const { return count(Outcome::Failed) == 0 && count(Outcome::UnexpectedPass) == 0; }

size_t Report::count(Outcome outcome) const {
  return static_cast<size_t>(
      std::ranges::count_if(results, [&](const CheckResult& result) { return result.outcome == outcome; }));
}

std::string Report::str() const {
  std::string text;
  for (const CheckResult& result : results) {
    const bool cite = result.outcome == Outcome::Failed || result.outcome == Outcome::ExpectedFailure;
    std::string rule = cite && !result.rule.empty() ? fmt::format("[{}] ", result.rule) : "";
    if (result.reason.find(fmt::format("[{}]", result.rule)) != std::string::npos) rule.clear();
    text += fmt::format("{:<16} {}{}{}{}\n", outcome_name(result.outcome), full_name(result),
                        result.reason.empty() ? "" : ": ", rule, result.reason);
  }
  return text;
}

Report verify_plugin(PluginRegistry& registry, PluginKind kind, const std::string& id,
                     const SpacesFile& spaces, const VerifyOptions& options) {
  require_checks(options.checks);
  Report report;
  const PluginInfo info = registry.info(kind, id);
  // Created outside the checks: an error in the kit's own
  // workloads or the spaces is not the plugin's fault.
  const Subject subject(registry, info, spaces, options);
  bool loads = true;
  std::string missing;  // what this machine lacks for the plugin or its space
  const auto run = [&](const Check& check) {
    const bool asked =
        options.checks.empty() || std::ranges::find(options.checks, check.name) != options.checks.end();
    if (!asked && std::string_view(check.name) != "loads") return;
    CheckResult result{kind, id, check.name, check.rule, Outcome::Passed, "", 0.0};
    if (!loads) {
      result.outcome = Outcome::Skipped;
      result.reason = "the plugin does not load";
    } else if (!missing.empty()) {
      result.outcome = Outcome::Unsupported;
      result.reason = missing;
    } else {
      const auto begin = std::chrono::steady_clock::now();
      Verdict verdict = isolate([&] { return check.run(subject); }, options.seconds);
      result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      result.outcome = verdict.outcome;
      result.reason = std::move(verdict.reason);
      if (!verdict.rule.empty()) result.rule = std::move(verdict.rule);
    }
    loads = loads && (std::string_view(check.name) != "loads" || result.outcome == Outcome::Passed);
    report.results.push_back(std::move(result));
  };
  for (const Check& check : common_checks()) {
    run(check);
    if (!loads || std::string_view(check.name) != "loads") continue;
    const Verdict verdict = isolate([&] { return construction(subject); }, options.seconds);
    if (verdict.outcome == Outcome::Unsupported) missing = verdict.reason;
  }
  // Checks of targets and extensions test the hardware themselves; importers need none.
  if (loads && missing.empty() && kind != PluginKind::Target && kind != PluginKind::Extension &&
      kind != PluginKind::Importer) {
    const Verdict verdict = isolate([&] { return subject.hardware_of_company(); }, options.seconds);
    if (verdict.outcome == Outcome::Unsupported) missing = verdict.reason;
  }
  for (const Check& check : suite_of(kind)) run(check);
  apply_expectations(report, options.expected);
  return report;
}

Report verify_pack(const fs::path& path, const PluginSearch& search, const SpacesFile& spaces,
                   const VerifyOptions& options) {
  PluginRegistry registry(search);
  std::error_code error;
  const fs::path place = fs::canonical(path, error);
  if (error) throw UserError(fmt::format("{}: {}", path.string(), error.message()));
  Report report;
  for (const PluginLogEntry& entry : registry.log()) {
    if (entry.outcome == PluginLogEntry::Outcome::Refused && belongs_to(entry.path, place)) {
      report.results.push_back(refused_at_search(entry));
    }
  }
  for (const PluginInfo& info : registry.list()) {
    if (!belongs_to(info.manifest, place)) continue;
    Report one = verify_plugin(registry, info.kind, info.id, spaces, options);
    std::ranges::move(one.results, std::back_inserter(report.results));
  }
  if (report.results.empty()) {
    throw UserError(fmt::format("{} has no plugins", path.string()),
                    "name a pack's folder or its *.pack.json");
  }
  for (const Expectation& expectation : options.expected) {
    if (std::ranges::none_of(report.results, [&](const CheckResult& result) {
          return full_name(result) == expectation.check;
        })) {
      throw UserError(fmt::format("unknown check '{}'", expectation.check),
                      "'tunesmith plugins verify' lists them");
    }
  }
  return report;
}

}  // namespace tunesmith::conformance
