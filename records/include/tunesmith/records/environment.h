// Where a time was measured: stored with every record, so that a time is never taken for another machine's.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)
namespace tunesmith {

/// A value; what could not be found out is "" or 0. Two processes on one machine with the same plugins and
/// affinity detect equal environments.
struct Environment {
  std::string architecture;            // "x86_64"
  std::string cpu_model;               // as the kernel names it
  std::string cpu_identity;            // vendor, family, model, stepping (or implementer, part, revision)
  std::vector<std::string> cpu_flags;  // sorted, without repetition
  std::vector<std::string> caches;     // of the first processor: "L1d 48K", "L1i 32K", "L2 2048K", ..
  int processors = 0;                  // that this process may run on
  std::string governor;                // frequency governor of the first processor; "" where there is none
  std::string machine_name;            // a hash of the operating system's machine id; "" where it has none
  std::string microcode;
  std::string kernel;                          // operating system and release
  std::string compiler;                        // that built Tunesmith's kernel
  std::string version;                         // of Tunesmith's kernel
  std::map<std::string, std::string> plugins;  // id -> version

  /// Canonical JSON in one line: equal environments give equal text.
  std::string text() const;
  /// Throws UserError when `text` is not what text() writes: every key, and no other.
  static Environment parse(std::string_view text);

  /// Of text(): names the environment in records.
  uint64_t hash() const;
  /// Of what decides a time and does not change by an update: architecture, processor, caches, number of
  /// processors, governor, machine_name. A record whose machine differs is used to learn from; its time is
  /// never taken as this machine's. Software versions are not in it.
  uint64_t machine() const;

  bool operator==(const Environment&) const = default;
};

/// The environment of this process now. `plugins` are the ids and versions of those in use. `root` is the
/// folder in which proc, sys and etc are looked for; tests give one of their own. Never throws for what is
/// missing.
Environment detect_environment(const std::map<std::string, std::string>& plugins,
                               const std::filesystem::path& root = "/");

}  // namespace tunesmith
#pragma GCC visibility pop
