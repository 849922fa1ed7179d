// The conformance kit: does a plugin keep the contract of its kind?
//
//   PluginSearch search;
//   search.command_line = {{"build/plugins"}};
//   const Report report = verify_pack("build/plugins", search, SpacesFile::load("spaces.yaml"), {});
//   EXPECT_TRUE(report.ok()) << report.str();
//
// Each check runs in a child process of its own, with a limit of time: a plugin that crashes, hangs or ends
// its process fails that check and nothing else. docs/conformance.md lists the checks. Most packs need none
// of this in C++: tunesmith_add_conformance_test (CMake) and `tunesmith plugins verify PATH` run the same.
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

/// What became of a check. Only Failed and UnexpectedPass count against the plugin.
enum class Outcome : uint8_t {
  Passed,
  Failed,
  Skipped,          ///< there was nothing to check: a finishing module has no trace
  Unsupported,      ///< this machine or installation cannot check it: the hardware is not here
  ExpectedFailure,  ///< failed, as an Expectation says
  UnexpectedPass    ///< passed although an Expectation says that it fails: the expectation is out of date
};

/// "passed", "failed", "skipped", "unsupported", "expected failure", "unexpected pass".
std::string_view outcome_name(Outcome outcome);

/// One check of one plugin.
struct CheckResult {
  PluginKind kind = PluginKind::Module;
  std::string id;     ///< of the plugin
  std::string check;  ///< "determinism"
  std::string rule;   ///< of docs/plugin-rules.md, "P19"
  Outcome outcome = Outcome::Passed;
  std::string reason;  ///< empty exactly when it passed
  double seconds = 0.0;
};

/// A failure that is known and accepted, with the reason why.
struct Expectation {
  std::string check;   ///< "module:acme_tile/threads"
  std::string reason;  ///< not empty

  /// Parses "module:acme_tile/threads=REASON". Throws UserError.
  static Expectation parse(std::string_view text);
};

struct VerifyOptions {
  /// Workloads to check with, besides the kit's own: those for which a module is meant.
  std::vector<std::string> workloads = {};  // NOLINT(readability-redundant-member-init): for designated use
  std::vector<Expectation> expected = {};   // NOLINT(readability-redundant-member-init)
  /// Names of checks ("legality"), beside "loads", that alone are run; empty = all. An unknown one:
  /// UserError.
  std::vector<std::string> checks = {};  // NOLINT(readability-redundant-member-init)
  int seconds = 60;                      ///< for one check
};

struct Report {
  std::vector<CheckResult> results;

  /// Nothing failed, and nothing passed that was expected to fail.
  bool ok() const;
  size_t count(Outcome outcome) const;
  /// For people: one line for each check, with its reason.
  std::string str() const;
};

/// The checks of one plugin's kind. `spaces` gives the company in which it is checked: the first space that
/// names the plugin, else the file's default space with the plugin put into it. Threads: call it while no
/// other thread of this process holds locks that a child would need (it forks).
Report verify_plugin(PluginRegistry& registry, PluginKind kind, const std::string& id,
                     const SpacesFile& spaces, const VerifyOptions& options);

/// All plugins of the packs at `path`, a folder with packs or a pack's manifest, which `search` must lead to.
/// What is refused there fails as the check "found". Throws UserError when there is nothing, or when an
/// expectation names no check.
Report verify_pack(const std::filesystem::path& path, const PluginSearch& search, const SpacesFile& spaces,
                   const VerifyOptions& options);

}  // namespace tunesmith::conformance
#pragma GCC visibility pop
