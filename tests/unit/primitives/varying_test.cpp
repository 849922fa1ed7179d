// Extents that vary: transformations that would lose steps of a reduction are refused.
#include "tunesmith/ir/extents.h"
#include "tunesmith/ir/parser.h"
#include "unit/primitives/equivalence.h"

namespace tunesmith::test {
namespace {

/// Makes E with n rows, which C sums up.
Program sum_of_rows() {
  return parse_program(
      "program s[1 <= n <= 6](A: f32[6, 4] extents [n, 4]) -> (S: f32[4])\n"
      "  intermediate E: f32[6, 4] extents [n, 4]\n"
      "  intermediate K: f32[6] extents [n]\n"
      "  for i in 0..6:\n"
      "    for j in 0..4:\n"
      "      block E(vi: spatial 6 = i, vj: spatial 4 = j):\n"
      "        E[vi, vj] = A[vi, vj]*2.0\n"
      "  for i in 0..6:\n"
      "    block K(vi: spatial 6 = i):\n"
      "      K[vi] = 3.0\n"
      "  for j in 0..4:\n"
      "    for r in 0..6:\n"
      "      block S(vj: spatial 4 = j, vr: reduction 6 = r):\n"
      "        init:\n"
      "          S[vj] = 0.0\n"
      "        S[vj] = S[vj] + E[vr, vj] + K[vr]\n");
}

TEST(VaryingExtents, AReductionKeepsItsSteps) {
  const Program program = sum_of_rows();
  EXPECT_TRUE(reduces_varying(program));
  Schedule schedule(program);
  const BlockRV sum = schedule.get_block("S");
  const BlockRV fill = schedule.get_block("K");
  const LoopRV steps_of_sum = schedule.get_loops(sum)[1];
  expect_refused(schedule, "rfactor", "the steps of the reduction vary",
                 [&] { schedule.rfactor(steps_of_sum, 0); });
  const std::string steps = "the extents of a buffer vary, and with them the steps of a reduction";
  expect_refused(schedule, "reindex", steps, [&] { schedule.reindex(sum, "read", 1); });
  expect_refused(schedule, "transform_layout", steps,
                 [&] { schedule.transform_layout(sum, "read", 1, "(i, j) -> (j, i)"); });
  expect_refused(schedule, "compute_inline", "the extent of a reduction may depend on the buffer",
                 [&] { schedule.compute_inline(fill); });
  expect_refused(schedule, "pad_einsum", "the extents of a buffer vary",
                 [&] { schedule.pad_einsum(sum, {8, 8}); });
}

TEST(VaryingExtents, AreThoseOfCopies) {
  Schedule schedule(sum_of_rows());
  schedule.compute_inline(schedule.get_block("E"));  // now A determines the number of steps
  schedule.cache_read(schedule.get_block("S"), 1, "local");
  EXPECT_NE(text_of(schedule).find("K_local: f32[6] local extents [n]"), std::string::npos)
      << text_of(schedule);
}

}  // namespace
}  // namespace tunesmith::test
