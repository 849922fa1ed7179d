// A suite is a list of checks; each runs in its own process, so that nothing is loaded at its start.
#pragma once

#include <span>

#include "subject.h"
#include "verdict.h"

namespace tunesmith::conformance {

struct Check {
  const char* name;
  const char* rule;  // in docs/plugin-rules.md, cited when the check fails
  Verdict (*run)(const Subject& subject);
};

/// Passed, or Unsupported with what the plugin's constructor reports as missing on this machine or build.
Verdict construction(const Subject& subject);

std::span<const Check> common_checks();
std::span<const Check> module_checks();
std::span<const Check> searcher_checks();
std::span<const Check> cost_model_checks();
std::span<const Check> task_scheduler_checks();
std::span<const Check> importer_checks();
std::span<const Check> runner_checks();
std::span<const Check> target_checks();
std::span<const Check> extension_checks();

}  // namespace tunesmith::conformance
