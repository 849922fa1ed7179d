#pragma once

#include <cstdlib>

namespace tunesmith::test {

// Whether this is the extended suite, in which a test repeats more often (docs/testing.md).
inline bool is_extended() { return std::getenv("TUNESMITH_TEST_EXTENDED") != nullptr; }

// The number of a test's repetitions, or its cases.
template <typename T>
T usual_or_extended(T usual, T extended) {
  return is_extended() ? extended : usual;
}

}  // namespace tunesmith::test
