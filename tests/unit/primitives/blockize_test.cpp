#include "unit/primitives/equivalence.h"

namespace tunesmith::test {
namespace {

TEST(Blockize, EveryLoopOfAChain) {
  const Program before = make_chain(4, 6);
  for (size_t at = 0; at < 2; ++at) {
    Schedule schedule(before);
    const BlockRV c = schedule.get_block("C");
    const std::vector<LoopRV> loops = schedule.get_loops(c);
    const BlockRV outer = schedule.blockize(loops[at]);
    expect_sound(before, schedule);
    if (at == 0) continue;
    // Again, around the block that is there now.
    Schedule twice = schedule.clone();
    twice.blockize(twice.get_loops(outer)[0]);
    expect_sound(before, twice);
    schedule.compute_at(schedule.get_block("B"), loops[0]);
    expect_sound(before, schedule);
  }
}

TEST(Blockize, Refusals) {
  const Program gmm = make_gmm(4, 6, 8);
  Schedule schedule(gmm);
  const BlockRV block = schedule.get_block("C");
  const std::vector<LoopRV> loops = schedule.get_loops(block);
  const std::vector<LoopRV> k = schedule.split(loops[2], {std::nullopt, 4});
  expect_refused(schedule, "blockize", "the block initializes itself and the reduction continues outside",
                 [&] { schedule.blockize(k[1]); });
  const std::vector<LoopRV> j = schedule.split(loops[1], {std::nullopt, 4});
  expect_refused(schedule, "blockize", "a condition of the block uses the loops inside",
                 [&] { schedule.blockize(j[1]); });
  schedule.decompose_reduction(block, k[0]);
  expect_refused(schedule, "blockize", "the loop holds more than one block",
                 [&] { schedule.blockize(j[1]); });

  Schedule fused(gmm);
  const BlockRV c = fused.get_block("C");
  std::vector<LoopRV> all = fused.get_loops(c);
  const LoopRV ij = fused.fuse({all[0], all[1]});
  const std::vector<LoopRV> parts = fused.split(ij, {std::nullopt, 4});
  expect_refused(fused, "blockize", "an iterator binds loops inside and outside in one term",
                 [&] { fused.blockize(parts[1]); });

  // The tile has every second element, so it is not a box.
  Schedule strided(make_chain(4, 6));
  const BlockRV b = strided.get_block("B");
  const std::vector<LoopRV> jj = strided.split(strided.get_loops(b)[1], {3, 2});
  strided.reorder({jj[1], jj[0]});
  expect_refused(strided, "blockize", "the inner loops are not a tile of an iterator",
                 [&] { strided.blockize(jj[0]); });
}

}  // namespace
}  // namespace tunesmith::test
