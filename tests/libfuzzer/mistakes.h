// Examples of a text, and what mistakes make of them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace tunesmith::test {

class Examples {
 public:
  /// Each file is one.
  void add_folder(const std::filesystem::path& folder);
  /// A dictionary as libFuzzer reads it: lines "word", in which \xNN is a byte.
  void add_words(const std::filesystem::path& file);

  /// The first are the examples as they are; the others have a few mistakes. Nothing when there are none.
  std::string input(uint64_t seed, uint64_t number) const;

 private:
  std::vector<std::string> texts_;
  std::vector<std::string> words_;
};

}  // namespace tunesmith::test
