// Hashes of programs, and the versions of the lowering and generators that made them.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace tunesmith::golden {

/// Hashes of a program's forms, each made from the form before it.
struct Hashes {
  std::string trace;
  std::string lowered;
  std::string code;

  bool operator==(const Hashes&) const = default;
};

struct Generator {
  std::string version;
  std::string libraries;  // versions of libraries that also determine the code; "" if the corpus has the text
  std::string source;     // the file with the version; not in the corpus

  bool same_as(const Generator& other) const {
    return version == other.version && libraries == other.libraries;
  }
};

struct Corpus {
  std::string lowering;
  std::map<std::string, Generator> generators;  // by target
  std::map<std::string, Hashes> programs;       // by "TARGET SPACE WORKLOAD NUMBER"
  std::map<std::string, std::string> texts;     // files that are compiled with a target's output

  static Corpus read(const std::filesystem::path& file);
  void write(const std::filesystem::path& file) const;
};

struct Differences {
  /// Changes without a new version: each names the version to raise.
  std::vector<std::string> versions;
  /// Changes for which the corpus only has to be rewritten.
  std::vector<std::string> others;
};

/// Compares the programs of `now`, which may be a part of those in `held`.
Differences compare(const Corpus& held, const Corpus& now);

}  // namespace tunesmith::golden
