// Where a time was measured: stored with every record, so that times of different machines are not mixed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)
namespace tunesmith {

/// A value; unknown fields are "" or 0. Two processes on one machine
/// with the same plugins and affinity detect equal environments.
struct Environment {
  std::string architecture;            // "x86_64"
  std::string cpu_model;               // as the operating system names it
  std::string cpu_identity;            // vendor, family, model, stepping (or implementer, part, revision)
  std::vector<std::string> cpu_flags;  // sorted, without repetition
  std::vector<std::string> caches;     // of the first processor: "L1d 48K", "L1i 32K", "L2 2048K", ..
  int processors = 0;                  // available to this process
  std::string governor;                // frequency governor of the first processor; "" if none
  std::string machine_name;            // a hash of the operating system's machine id; "" if none
  std::string microcode;
  std::string kernel;                          // operating system and release
  std::string compiler;                        // that built the kernel of Tunesmith
  std::string version;                         // of Tunesmith's kernel
  std::map<std::string, std::string> plugins;  // id -> version

  /// Canonical JSON in one line: equal environments have equal texts.
  std::string text() const;
  /// Throws UserError unless `text` has exactly the keys that text() writes.
  static Environment parse(std::string_view text);

  /// A hash of text(), which identifies the environment in records.
  uint64_t hash() const;
  /// A hash of what determines times and is not changed by updates: architecture, processor,
  /// caches, number of processors, governor, machine_name; no software versions. A record of
  /// another machine is used to learn from; its time is never taken as this machine's.
  uint64_t machine() const;

  bool operator==(const Environment&) const = default;
};

/// Detects the environment of this process. `plugins`: ids and versions
/// of those in use. `root`: the folder that contains proc, sys and etc;
/// tests pass their own. Does not throw for missing files.
Environment detect_environment(const std::map<std::string, std::string>& plugins,
                               const std::filesystem::path& root = "/");

}  // namespace tunesmith
#pragma GCC visibility pop
