// Register tiles of a matrix product: the form that reaches the machine's peak (bench/compile.cpp measures
// it).
#include <sstream>

#include <gtest/gtest.h>

#include "lowered_program.h"
#include "tunesmith/verification/interpreter.h"

namespace tunesmith {
namespace {

using testing::gmm_tile_program;
using testing::make_target;

struct Tile {
  int64_t rows;
  int64_t vectors;
};

/// The lines of the block, from its label to its jump, that holds most multiply-adds: the innermost loop.
std::vector<std::string> innermost_loop(const std::string& assembly) {
  std::vector<std::string> best, block;
  size_t most = 0, here = 0;
  std::istringstream lines(assembly);
  for (std::string line; std::getline(lines, line);) {
    const bool label = !line.empty() && line[0] != '\t' && line.find(':') != std::string::npos;
    if (!label) {
      block.push_back(line);
      if (line.find("fmadd") != std::string::npos) ++here;
    }
    if (label || line.starts_with("\tj")) {
      if (here > most) {
        most = here;
        best = block;
      }
      block.clear();
      here = 0;
    }
  }
  return best;
}

class GmmTile : public ::testing::TestWithParam<Tile> {
 protected:
  const std::unique_ptr<llvm_target::LlvmTarget> target = make_target();
  const int64_t lanes = target->lower_options().vector_bits / 32;
};

INSTANTIATE_TEST_SUITE_P(Shapes, GmmTile,
                         ::testing::Values(Tile{8, 2}, Tile{4, 4}, Tile{6, 4}, Tile{12, 2}, Tile{14, 2}),
                         [](const auto& tested) {
                           return std::to_string(tested.param.rows) + "x" +
                                  std::to_string(tested.param.vectors);
                         });

TEST_P(GmmTile, ComputesTheProduct) {
  const auto [rows, vectors] = GetParam();
  for (const bool parallel : {false, true}) {
    const LoweredProgram lowered =
        gmm_tile_program(3 * rows, 3 * vectors * lanes, 40, rows, vectors * lanes, lanes, parallel);
    EXPECT_LT(testing::error_against_interpreter(*target, lowered, 2), 40 * 6e-8 * 8);
  }
}

TEST_P(GmmTile, KeepsItsAccumulatorsInRegisters) {
  const auto [rows, vectors] = GetParam();
  if (rows * vectors + vectors + 1 >= target->device().get("vector_registers"))
    GTEST_SKIP() << "the tile is too big for this machine";
  const std::string assembly =
      target->assembly(gmm_tile_program(512, 512, 512, rows, vectors * lanes, lanes, true), "kernel");
  const std::vector<std::string> loop = innermost_loop(assembly);
  int64_t products = 0;
  for (const std::string& line : loop) {
    EXPECT_EQ(line.find("rsp"), std::string::npos) << line;
    EXPECT_EQ(line.find("rbp)"), std::string::npos) << line;
    if (line.find("fmadd") != std::string::npos) ++products;
  }
  EXPECT_EQ(products, rows * vectors);
  // The products, a vector of B and an element of A each, and the loop itself: two pointers and the index
  // move, a comparison and a jump.
  EXPECT_LE(static_cast<int64_t>(loop.size()), products + vectors + rows + 5);
}

}  // namespace
}  // namespace tunesmith
