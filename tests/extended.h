#pragma once

#include <cstdlib>

namespace tunesmith::test {

// Whether this is the extended suite, in which a test repeats more often (docs/testing.md).
inline bool is_extended() { return std::getenv("TUNESMITH_TEST_EXTENDED") != nullptr; }

// How often a test repeats, or what it goes through.
template <typename T>
T usual_or_extended(T usual, T extended) {
  return is_extended() ? extended : usual;
}

}  // namespace tunesmith::test
