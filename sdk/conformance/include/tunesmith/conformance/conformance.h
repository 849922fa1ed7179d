// The conformance kit checks whether a plugin fulfils the contract of its kind.
//
//   PluginSearch search;
//   search.command_line = {{"build/plugins"}};
//   const Report report = verify_pack("build/plugins", search, SpacesFile::load("spaces.yaml"), {});
//   EXPECT_TRUE(report.ok()) << report.str();
//
// Each check runs in a child process with a time limit: a plugin that crashes, hangs or exits
// fails that check only. docs/conformance.md lists the checks. Most packs need no C++ for this:
// tunesmith_add_conformance_test (CMake) and `tunesmith plugins verify PATH` run the same.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tunesmith/plugin/registry.h"
#include "tunesmith/space/spaces_file.h"

#pragma GCC visibility push(default)
namespace tunesmith::conformance {

/// The outcome of a check. Only Failed and UnexpectedPass count against the plugin.
enum class Outcome : uint8_t {
  Passed,
  Failed,
  Skipped,          ///< nothing to check: a finishing module has no trace
  Unsupported,      ///< cannot be checked on this machine or installation: the hardware is missing
  ExpectedFailure,  ///< failed as an Expectation predicts
  UnexpectedPass    ///< passed although an Expectation predicts a failure: the expectation is out of date
};

/// "passed", "failed", "skipped", "unsupported", "expected failure", "unexpected pass".
std::string_view outcome_name(Outcome outcome);

/// One check of one plugin.
struct CheckResult {
  PluginKind kind = PluginKind::Module;
  std::string id;     ///< of the plugin
  std::string check;  ///< "determinism"
  std::string rule;   ///< in docs/plugin-rules.md, "P19"
  Outcome outcome = Outcome::Passed;
  std::string reason;  ///< empty exactly when it passed
  double seconds = 0.0;
};

/// A known and accepted failure, with its reason.
struct Expectation {
  std::string check;   ///< "module:acme_tile/threads"
  std::string reason;  ///< not empty

  /// Parses "module:acme_tile/threads=REASON". Throws UserError.
  static Expectation parse(std::string_view text);
};

struct VerifyOptions {
  /// Workloads to check with, besides the kit's own: those for which a module is made.
  std::vector<std::string> workloads = {};  // NOLINT(readability-redundant-member-init): for designated use
  std::vector<Expectation> expected = {};   // NOLINT(readability-redundant-member-init)
  /// Names of the checks ("legality") to run besides
  /// "loads"; empty = all. UserError for an unknown one.
  std::vector<std::string> checks = {};  // NOLINT(readability-redundant-member-init)
  int seconds = 60;                      ///< for one check
};

struct Report {
  std::vector<CheckResult> results;

  /// Nothing failed, and nothing passed unexpectedly.
  bool ok() const;
  size_t count(Outcome outcome) const;
  /// For people: one line per check, with its reason.
  std::string str() const;
};

/// Runs the checks of the plugin's kind. `spaces` gives the space in which it is checked:
/// the first one that names the plugin, else the file's default space with the plugin
/// added. It forks: no other thread of this process may hold locks that a child needs.
Report verify_plugin(PluginRegistry& registry, PluginKind kind, const std::string& id,
                     const SpacesFile& spaces, const VerifyOptions& options);

/// Checks all plugins of the packs at `path` (a folder with packs or a pack's
/// manifest), which `search` must include. A refused plugin fails the check
/// "found". Throws UserError if there is none, or if an expectation names no check.
Report verify_pack(const std::filesystem::path& path, const PluginSearch& search, const SpacesFile& spaces,
                   const VerifyOptions& options);

}  // namespace tunesmith::conformance
#pragma GCC visibility pop
