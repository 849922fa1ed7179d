// Hashes of programs, and the versions of what made them.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace tunesmith::golden {

/// Hashes, each of what is made of the one before it.
struct Hashes {
  std::string trace;
  std::string lowered;
  std::string code;

  bool operator==(const Hashes&) const = default;
};

struct Generator {
  std::string version;
  std::string libraries;  // that decide about the code, too; "" where it is the text that is held
  std::string source;     // the file with the version; not in the corpus

  bool same_as(const Generator& other) const {
    return version == other.version && libraries == other.libraries;
  }
};

struct Corpus {
  std::string lowering;
  std::map<std::string, Generator> generators;  // by target
  std::map<std::string, Hashes> programs;       // by "TARGET SPACE WORKLOAD NUMBER"
  std::map<std::string, std::string> texts;     // files that are compiled with what a target writes

  static Corpus read(const std::filesystem::path& file);
  void write(const std::filesystem::path& file) const;
};

struct Differences {
  /// What changed though its version did not: each names the version.
  std::vector<std::string> versions;
  /// What only has to be written anew.
  std::vector<std::string> others;
};

/// Of the programs of `now`, which may be a part of those in `held`.
Differences compare(const Corpus& held, const Corpus& now);

}  // namespace tunesmith::golden
