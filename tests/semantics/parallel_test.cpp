// When parallel_vectorize_unroll lets the search decide whether anything runs in parallel.
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tunesmith/ir/printer.h>
#include <tunesmith/workload/workload.h>

#include "module_test.h"

namespace tunesmith {
namespace {

using testing::HasSubstr;

class Parallel : public tunesmith_test::ModuleTest {
 protected:
  Parallel() : ModuleTest("parallel_vectorize_unroll") { use("parallel_vectorize_unroll"); }

  /// How many of 20 draws of a product of this many rows of 64 with a number are parallel; all use vectors.
  int parallel_draws(int64_t rows) {
    const Workload workload =
        WorkloadDefinition::parse(fmt::format("name: t\ninputs: {{X: {{shape: [{0}, 64], dtype: f32}}}}\n"
                                              "compute: |\n  O[i<{0}, j<64] = X[i, j] * 3\noutputs: [O]\n",
                                              rows),
                                  "t.yaml")
            .instantiate();
    const SketchSet set = space_->generate(workload.program);
    int parallel = 0;
    for (uint64_t draw = 0; draw < 20; ++draw) {
      const auto candidate = space_->materialise(
          workload.program, set.sketches[0].trace().with_open_decisions(), RandomStream(draw, 0));
      const std::string text = to_string((*candidate)->lowered.program);
      EXPECT_THAT(text, HasSubstr("ramp("));
      if (text.find("parallel") != std::string::npos) ++parallel;
    }
    return parallel;
  }
};

TEST_F(Parallel, IsDrawnForFewIterations) {
  EXPECT_GT(parallel_draws(16), 0);
  EXPECT_LT(parallel_draws(16), 20);
  EXPECT_EQ(parallel_draws(128), 20);
}

}  // namespace
}  // namespace tunesmith
