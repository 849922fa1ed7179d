// The order in which blocks take tiles, which the space samples.
#include "tunesmith/grid/tile_order.h"

#include <fmt/format.h>

#include "hopper_programs.h"
#include "twins/grid_twin_finder.h"

namespace tunesmith {
namespace {

using namespace hopper;
using ::testing::HasSubstr;

std::optional<TileOrder> order_of(const Candidate& candidate) {
  for (const Loop* loop : collect<Loop>(candidate.lowered.program.root()))
    if (const auto order = tile_order_of(*loop)) return order;
  return std::nullopt;
}

/// The first candidate of the sketch whose tiles are ordered otherwise than they lie.
CandidatePtr draw_ordered(const Program& program, const Schedule& sketch) {
  for (uint64_t number = 0; number < 300; ++number) {
    const auto candidate =
        hopper_space().materialise(program, sketch.trace().with_open_decisions(), RandomStream(7, number));
    if (candidate && order_of(**candidate)) return *candidate;
  }
  return nullptr;
}

TEST(TileOrder, KeepsTheMeaningOfTheProgram) {
  const Program program = load_program("gmm:n=192,m=256,k=128,dtype=f16");
  const SketchSet sketches = hopper_space().generate(program);
  for (const size_t with_boxes : {0, 1}) {
    const CandidatePtr found = draw_ordered(program, sketches.sketches.at(with_boxes));
    ASSERT_NE(found, nullptr);
    EXPECT_THAT(
        hopper_space().target().source(found->lowered, "k").value(),
        HasSubstr(fmt::format(", {}, {}>(blockIdx.x);", order_of(*found)->columns, order_of(*found)->group)));
    SCOPED_TRACE(found->trace.str());
    expect_right(program, *found);
  }
}

TEST(TileOrder, IsThatOfTheReducedInstance) {
  const Workload large = WorkloadLibrary().load("gmm:n=4096,m=4096,k=4096,dtype=f16");
  const CandidatePtr found =
      draw_ordered(large.program, hopper_space().generate(large.program).sketches.at(1));
  ASSERT_NE(found, nullptr);
  SCOPED_TRACE(found->trace.str());
  const auto twin = GridTwinFinder(large, hopper_space()).find_grid_twin(*found);
  ASSERT_TRUE(twin);
  ASSERT_TRUE(order_of(*twin->candidate));
  EXPECT_EQ(order_of(*twin->candidate)->group, order_of(*found)->group);
  for (const int64_t extent : twin->workload->program.outputs.front()->shape) EXPECT_LT(extent, 1200);
}

}  // namespace
}  // namespace tunesmith
