// The module register_tile: long sums of few rows, in blocks that fit the second-level cache.
#include <algorithm>
#include <regex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tunesmith/ir/printer.h>
#include <tunesmith/space/space.h>
#include <tunesmith/space/spaces_file.h>
#include <tunesmith/workload/library.h>

#include "extended.h"
#include "same_results.h"

namespace tunesmith {
namespace {

using tunesmith_test::SameResults;

class SumBlocks : public testing::Test {
 protected:
  /// A number of terms of the innermost sum for which two panels exceed the second-level cache.
  int64_t terms_beyond_cache(int64_t taps) const {
    const auto cache = static_cast<int64_t>(space_.device().get_or("l2_bytes", 262144));
    return 512 * (1 + cache / (2 * 4 * 2 * lanes() * 512 * taps));
  }
  int64_t lanes() const { return static_cast<int64_t>(space_.device().get("vector_bits")) / 32; }

  Program product(int64_t terms, const std::string& reader = "C[i, j]") const {
    const std::string k = std::to_string(terms), m = std::to_string(8 * lanes());
    return WorkloadDefinition::parse(
               "name: few_rows\ninputs:\n  A: {shape: [3, " + k + "], dtype: f32}\n  B: {shape: [" + k +
                   ", " + m + "], dtype: f32, constant: true}\ncompute: |\n  C[i<3, j<" + m + "] = sum(r<" +
                   k + ") A[i, r] * B[r, j]\n" + "  O[i<3, j<" + m + "] = " + reader + "\noutputs: [O]\n",
               "w.yaml")
        .instantiate()
        .program.clone();
  }

  /// The sketches whose panels are divided into blocks.
  std::vector<size_t> in_blocks(const SketchSet& set) const {
    const std::regex layout(R"(transform_layout\(.*% \d+ // \d+)");
    std::vector<size_t> found;
    for (size_t i = 0; i < set.sketches.size(); ++i) {
      if (std::regex_search(set.sketches[i].trace().str(), layout)) found.push_back(i);
    }
    return found;
  }

  void expect_the_same_of_blocks(const Program& program) const {
    const SketchSet set = space_.generate(program);
    const std::vector<size_t> blocks = in_blocks(set);
    ASSERT_FALSE(blocks.empty()) << to_string(program);
    const SameResults results(program);
    for (const size_t number : test::is_extended() ? blocks : std::vector{blocks.front()})
      results.expect_of_draws(space_, set, number, test::usual_or_extended(1, 4));
  }

  PluginRegistry registry_;
  Space space_{SpacesFile::load(TUNESMITH_SOURCE_DIR "/spaces.yaml").space("cpu"), registry_};
};

TEST_F(SumBlocks, AreThereWherePanelsDoNotFitTheCache) {
  const SketchSet set = space_.generate(product(terms_beyond_cache(1)));
  const std::vector<size_t> blocks = in_blocks(set);
  ASSERT_FALSE(blocks.empty());
  EXPECT_LT(blocks.size(), set.sketches.size()) << "whole sums remain";
  EXPECT_TRUE(in_blocks(space_.generate(product(64))).empty());
}

TEST_F(SumBlocks, KeepTheMeaningOfAProductAndItsReader) {
  expect_the_same_of_blocks(product(terms_beyond_cache(1), "max(C[i, j] + A[i, 0], 0.0)"));
}

TEST_F(SumBlocks, KeepTheMeaningOfAConvolution) {
  const std::string channels = std::to_string(terms_beyond_cache(9));
  expect_the_same_of_blocks(WorkloadLibrary()
                                .load("conv2d:h=2,w=3,ci=" + channels + ",co=" + std::to_string(4 * lanes()) +
                                      ",kernel=3,padding=1")
                                .program.clone());
}

}  // namespace
}  // namespace tunesmith
