// A program of many blocks has more combinations of modules' results than a space allows sketches.
#include <algorithm>
#include <set>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tunesmith/space/space.h>
#include <tunesmith/space/spaces_file.h>
#include <tunesmith/support/random.h>
#include <tunesmith/workload/workload.h>

#include "same_results.h"

namespace tunesmith {
namespace {

using tunesmith_test::SameResults;

/// A chain of products.
Program products(int count) {
  std::string text = "name: products\ninputs:\n  M: {shape: [16, 16], dtype: f32}\ncompute: |\n";
  for (int i = 0; i < count; ++i)
    text += fmt::format("  P{}[i<16, j<16] = sum(r<16) {}[i, r] * M[r, j]\n", i,
                        i == 0 ? "M" : fmt::format("P{}", i - 1));
  text += fmt::format("outputs: [P{}]\n", count - 1);
  return WorkloadDefinition::parse(text, "w.yaml").instantiate().program.clone();
}

Space space_of(PluginRegistry& registry, int max_sketches) {
  const std::string text = fmt::format(
      "version: 1\nspaces:\n  s:\n    target: {{kind: llvm, mcpu: x86-64-v2, vector_bits: 128}}\n"
      "    modules: [register_tile, parallel_vectorize_unroll, rewrite_parallel_vectorize_unroll]\n"
      "    search: {{kind: random}}\n    cost_model: {{kind: random}}\n    max_sketches: {}\n",
      max_sketches);
  return Space(SpacesFile::parse(text, "s.yaml").space(""), registry);
}

size_t forks_of(const SketchSet& set, const std::string& block) {
  for (const ModuleEvent& event : set.events) {
    if (event.block == block && event.forks > 0) return event.forks;
  }
  return 0;
}

TEST(SketchLimit, OfManyBlocksThereIsAShareOfTheCombinations) {
  PluginRegistry registry;
  const Program program = products(6);
  const Space space = space_of(registry, 32);
  const SketchSet set = space.generate(program);
  const size_t forks = forks_of(set, "P0");
  ASSERT_GT(forks, 1U);
  EXPECT_LE(set.sketches.size(), 32U);
  EXPECT_GE(set.sketches.size(), forks);
  std::set<uint64_t> made;
  for (size_t i = 0; i < set.sketches.size(); ++i) {
    made.insert(set.sketches[i].trace().with_open_decisions().hash());
    std::set<std::string> tiled;
    for (const SketchStep& step : set.steps[i]) {
      if (step.module == "register_tile") tiled.insert(step.block);
    }
    EXPECT_EQ(tiled.size(), 6U) << "each sketch has a tile of each block";
  }
  EXPECT_EQ(made.size(), set.sketches.size());
  const auto said = [](const ModuleEvent& event) {
    return event.reason.find("more than 32") != std::string::npos;
  };
  EXPECT_TRUE(std::ranges::any_of(set.events, said)) << "what is left out is said";
  const SameResults results(program);
  for (size_t i = 0; i < set.sketches.size(); i += 11) {
    const auto candidate =
        space.materialise(program, set.sketches[i].trace().with_open_decisions(), RandomStream(1, i));
    ASSERT_TRUE(candidate) << candidate.error().message;
    results.expect_of(**candidate);
  }
}

TEST(SketchLimit, WithinItAllCombinationsAreMade) {
  PluginRegistry registry;
  const Program program = products(2);
  const SketchSet all = space_of(registry, 1024).generate(program);
  const size_t combinations = forks_of(all, "P0") * forks_of(all, "P1");
  EXPECT_EQ(all.sketches.size(), combinations);
  EXPECT_EQ(space_of(registry, static_cast<int>(combinations)).generate(program).sketches.size(),
            combinations);
}

TEST(SketchLimit, TheSameSketchesComeAgain) {
  PluginRegistry registry;
  const Program program = products(5);
  const Space space = space_of(registry, 24);
  const SketchSet one = space.generate(program), other = space.generate(program);
  ASSERT_EQ(one.sketches.size(), other.sketches.size());
  for (size_t i = 0; i < one.sketches.size(); ++i)
    EXPECT_EQ(one.sketches[i].trace().hash(), other.sketches[i].trace().hash());
}

}  // namespace
}  // namespace tunesmith
