// Mistakes in a part of a type's range.
#include <cmath>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tunesmith/workload/workload.h"
#include "unit/verification/random_set.h"

namespace tunesmith {
namespace {

/// A unit with the range of f16 flushes smaller factors to zero.
TEST(Edges, ShowAFactorThatIsTakenForZeroWhereItIsSmall) {
  const auto product = [](const std::string& shape, bool accumulates, const std::string& a,
                          const std::string& b) {
    const std::string text =
        "name: t\nparams: " + shape +
        "\ninputs:\n  A: {shape: [n, k], dtype: f32}\n  B: {shape: [k, m], dtype: f32}\n" +
        (accumulates ? "  D: {shape: [n, m], dtype: f32}\n" : "") + "compute: |\n  C[i<n, j<m] = sum(r<k) " +
        a + " * " + b +
        (accumulates ? "\n  E[i<n, j<m] = C[i, j] + D[i, j]\noutputs: [E]\n" : "\noutputs: [C]\n");
    return std::move(WorkloadDefinition::parse(text, "t.yaml").instantiate().program);
  };
  const auto small = [](const std::string& factor, double below) {
    return fmt::format("select(abs({0}) < {1}, 0, {0})", factor, below);
  };
  for (const bool accumulates : {false, true}) {
    for (const char* shape : {"{n: 2, k: 4, m: 16}", "{n: 48, k: 20, m: 48}", "{n: 200, k: 24, m: 160}"}) {
      const Program right = product(shape, accumulates, "A[i, r]", "B[r, j]");
      std::vector<DrawnData> draws = random_set(right);
      SCOPED_TRACE(draws.front().fill.text() + shape);
      EXPECT_LE(worst_of(right, draws), 1.0);
      for (const double below : {0x1p-15, 0x1p-20, 0x1p-26}) {
        EXPECT_GT(worst_of(product(shape, accumulates, "A[i, r]", small("B[r, j]", below)), draws), 1.0)
            << below;
        EXPECT_GT(worst_of(product(shape, accumulates, small("A[i, r]", below), "B[r, j]"), draws), 1.0)
            << below;
      }
    }
  }
}

/// Every scale occurs if all slices are scaled; a single slice gets the first one.
TEST(AddEdges, EveryScaleOccurs) {
  std::set<int> seen;
  Tensor data = Tensor::zeros(kF32, {256});
  for (int64_t i = 0; i < 256; ++i) data.set(i, 1.0);
  add_edges(data, {.share = 0.9}, EdgePart::Large, {0, {true}, 63}, 7);
  for (int64_t i = 0; i < 256; ++i) seen.insert(std::ilogb(data.get(i)));
  for (int scale = -28; scale < 57; ++scale) EXPECT_TRUE(seen.contains(scale)) << scale;
  for (const auto& [part, scale] :
       {std::pair(EdgePart::Large, 0x1p57), std::pair(EdgePart::Small, 0x1p-28)}) {
    Tensor single = Tensor::zeros(kF32, {1});
    single.set(0, 1.0);
    add_edges(single, {.share = 0.9}, part, {0, {true}, 63}, 7);
    EXPECT_EQ(single.get(0), scale);
  }
}

}  // namespace
}  // namespace tunesmith
