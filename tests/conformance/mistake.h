// Which mistake a bad plugin is to make: the environment variable TUNESMITH_TEST_MISTAKE, so that one library
// makes all.
#pragma once

#include <cstdlib>
#include <string_view>

inline bool mistake(std::string_view name) {
  const char* chosen = std::getenv("TUNESMITH_TEST_MISTAKE");
  return chosen != nullptr && name == chosen;
}
