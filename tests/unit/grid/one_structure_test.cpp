// How numbers of a program may change in its twin, and what distinguishes twins from other computations.
#include "twins/one_structure.h"

#include <memory>
#include <regex>
#include <string>

#include <gtest/gtest.h>

#include "tunesmith/ir/lowered_stmt.h"
#include "tunesmith/ir/printer.h"
#include "tunesmith/trace/schedule.h"
#include "tunesmith/workload/workload.h"
#include "twins/corresponding_programs.h"
#include "twins/corresponding_texts.h"
#include "twins/extent_substitution.h"
#include "unit/grid/grid_machine.h"

namespace tunesmith {
namespace {

/// Loops over an array of this shape.
Program loops_over(const std::vector<int64_t>& shape) {
  std::string dims, indices, axes;
  for (size_t i = 0; i < shape.size(); ++i) {
    const std::string name(1, static_cast<char>('i' + i));
    const std::string comma = i > 0 ? ", " : "";
    dims += comma + std::to_string(shape[i]);
    indices += comma + name;
    axes += comma + name + "<" + std::to_string(shape[i]);
  }
  const std::string text = "name: copy\ninputs:\n  X: {shape: [" + dims + "], dtype: f32}\ncompute: |\n  O[" +
                           axes + "] = X[" + indices + "]\noutputs: [O]\n";
  return std::move(WorkloadDefinition::parse(text, "copy").instantiate({}).program);
}

TEST(ExtentSubstitution, CoefficientsScaleAndDivisorsCountTiles) {
  const ExtentSubstitution extents(loops_over({1000, 508, 4}), loops_over({40, 28, 4}));
  EXPECT_TRUE(extents.scales(7, 7));
  EXPECT_TRUE(extents.scales(508 * 4, 28 * 4)) << "a stride";
  EXPECT_TRUE(extents.scales(16 * 508 * 4, 16 * 28 * 4)) << "rows of a tile";
  EXPECT_TRUE(extents.counts(508 * 4, 28 * 4));
  EXPECT_TRUE(extents.counts(1000 / 8, 40 / 8)) << "tiles that divide";
  EXPECT_FALSE(extents.scales(1000 / 8, 40 / 8));
  EXPECT_TRUE(extents.counts(32, 2)) << "tiles of 16, of which the last is not full";
  EXPECT_FALSE(extents.counts(32, 3));
  EXPECT_TRUE(extents.scales(-508, -28));
  EXPECT_FALSE(extents.scales(8, 4));
  EXPECT_FALSE(extents.scales(3, 5));
  EXPECT_FALSE(extents.scales(28, 508)) << "nothing grows";
  EXPECT_FALSE(extents.scales(1000 - 48, 40 - 8)) << "no multiple";
}

TEST(ExtentSubstitution, ShiftsByLessThanTheExtent) {
  const ExtentSubstitution extents(loops_over({1000, 508}), loops_over({136, 28}));
  EXPECT_TRUE(extents.shifts(1000 + 3, 136 + 3));
  EXPECT_TRUE(extents.shifts(1000 - 48, 136 - 48));
  EXPECT_TRUE(extents.shifts(2 * 508 + 9, 2 * 28 + 9));
  EXPECT_TRUE(extents.shifts(1000 / 2 - 24, 136 / 2 - 24));
  EXPECT_FALSE(extents.shifts(1000 + 140, 136 + 140)) << "further than the extent";
  EXPECT_FALSE(extents.shifts(4, 2));
  EXPECT_FALSE(extents.shifts(1000 - 48, 136 - 47));
}

TEST(ExtentSubstitution, DataIsAnExtentOrItsReciprocal) {
  const ExtentSubstitution extents(loops_over({1000}), loops_over({16}));
  EXPECT_TRUE(extents.is_extent(0.5, 0.5));
  EXPECT_TRUE(extents.is_extent(1000, 16));
  EXPECT_TRUE(extents.is_extent(0.001, 0.0625));
  EXPECT_FALSE(extents.is_extent(2000, 32)) << "a multiple is another computation";
  EXPECT_FALSE(extents.is_extent(0.5, 0.25));
}

/// A handover of `versions` places along `axis`, whose sides are barriers of these levels.
Program with_handover(const std::string& axis, int64_t versions, const std::string& produce,
                      const std::string& consume) {
  Program program;
  program.root().append(std::make_unique<Handover>(axis, versions, std::make_unique<Barrier>(produce),
                                                   std::make_unique<Barrier>(consume)));
  return program;
}

TEST(CorrespondingPrograms, HandoversAreTheSame) {
  const ExtentSubstitution extents(loops_over({1000}), loops_over({40}));
  const Program full = with_handover("group.x", 4, "thread", "group");
  const auto correspond = [&](const Program& smaller) { return programs_correspond(full, smaller, extents); };
  EXPECT_TRUE(correspond(with_handover("group.x", 4, "thread", "group")));
  EXPECT_FALSE(correspond(with_handover("group.x", 3, "thread", "group")));
  EXPECT_FALSE(correspond(with_handover("thread.x", 4, "thread", "group")));
  EXPECT_FALSE(correspond(with_handover("group.x", 4, "group", "group")));
  EXPECT_FALSE(correspond(with_handover("group.x", 4, "thread", "thread")));
}

TEST(CorrespondingTexts, DifferInNumbersThatFollow) {
  const ExtentSubstitution extents(loops_over({1000, 508}), loops_over({40, 28}));
  const auto correspond = [&](std::string_view full, std::string_view smaller) {
    return texts_correspond(full, smaller, extents);
  };
  EXPECT_TRUE(correspond("a_7[i * 508 + 3u] /* 1000 */", "a_7[i * 28 + 3u] /* 40 */"));
  EXPECT_FALSE(correspond("a_7[i * 508]", "a_8[i * 28]")) << "a name";
  EXPECT_FALSE(correspond("a[i * 508 + 3]", "a[i * 28 + 2]"));
  EXPECT_FALSE(correspond("a[508u]", "a[28]"));
  EXPECT_FALSE(correspond("x * 0.5f", "x * 0.25f"));
  EXPECT_TRUE(correspond("x / 1000.0f", "x / 40.0f"));
  EXPECT_FALSE(correspond("a[508]", "a[28]  "));
  EXPECT_TRUE(correspond("#pragma unroll 1\nb[508]", "#pragma unroll 4\nb[28]"));
  EXPECT_FALSE(correspond("#pragma unroll 1\nb[1]", "#pragma unroll 1\nb[4]"));
}

/// The text with one sign for each number, which was once compared.
std::string without_digits(const Program& program) {
  return std::regex_replace(to_string(program), std::regex("\\b[0-9][0-9.]*(e[-+]?[0-9]+)?"), "#");
}

/// A parameter that is not an extent changes the computation, but only digits of the text.
LoweredProgram scaled(int64_t n, int64_t scale, int64_t distance) {
  static const WorkloadDefinition definition = WorkloadDefinition::parse(R"(name: scaled
params: {n: 64, scale: 8, distance: 4}
inputs:
  X: {shape: [n], dtype: f32}
compute: |
  O[i<n] = select(i >= distance, X[i - distance], 0) * scale
outputs: [O]
)",
                                                                         "scaled");
  const Workload workload = definition.instantiate(
      {{"n", std::to_string(n)}, {"scale", std::to_string(scale)}, {"distance", std::to_string(distance)}});
  Schedule schedule(workload.program);
  const std::vector<LoopRV> loops =
      schedule.split(schedule.get_loops(schedule.get_block("O"))[0], {std::nullopt, 16});
  schedule.bind(loops[0], "block.x");
  schedule.bind(loops[1], "thread.x");
  return test::lowered_for_grid(schedule.program());
}

TEST(CorrespondingPrograms, AreOneComputation) {
  const LoweredProgram full = scaled(1024, 8, 4);
  const auto corresponds = [&](const LoweredProgram& smaller) {
    EXPECT_EQ(without_digits(smaller.program), without_digits(full.program));
    return programs_correspond(full.program, smaller.program,
                               ExtentSubstitution(full.program, smaller.program));
  };
  EXPECT_TRUE(corresponds(scaled(1024, 8, 4)));
  EXPECT_TRUE(corresponds(scaled(64, 8, 4)));
  EXPECT_FALSE(corresponds(scaled(64, 4, 4))) << "another factor";
  EXPECT_FALSE(corresponds(scaled(64, 8, 2))) << "another distance";
}

}  // namespace
}  // namespace tunesmith
