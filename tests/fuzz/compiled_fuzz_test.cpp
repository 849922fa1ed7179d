#include "compiled_fuzz.h"

#include <gtest/gtest.h>

namespace tunesmith::fuzz {
namespace {

// The program fuzz_pairs runs longer, and continues after failures.
TEST(CompiledFuzz, TracesKeepTheMeaning) {
  const uint64_t pairs = from_environment("TUNESMITH_FUZZ_PAIRS", 300);
  const uint64_t first = from_environment("TUNESMITH_FUZZ_FIRST", 0);
  CompiledFuzz fuzz(from_environment("TUNESMITH_FUZZ_SEED", 1));
  for (uint64_t i = first; i < first + pairs; ++i) ASSERT_EQ(fuzz.run(i), "");
  EXPECT_GT(fuzz.compiled(), pairs / 2);
}

}  // namespace
}  // namespace tunesmith::fuzz
