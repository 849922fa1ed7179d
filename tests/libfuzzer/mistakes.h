// Mutates examples of a text.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace tunesmith::test {

class Examples {
 public:
  /// Adds each file as an example.
  void add_folder(const std::filesystem::path& folder);
  /// Adds a dictionary in libFuzzer's format: lines "word", in which \xNN is a byte.
  void add_words(const std::filesystem::path& file);

  /// The first inputs are the unchanged examples; others have a few mistakes. Empty without examples.
  std::string input(uint64_t seed, uint64_t number) const;

 private:
  std::vector<std::string> texts_;
  std::vector<std::string> words_;
};

}  // namespace tunesmith::test
