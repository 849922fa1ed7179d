#include "in_threads.h"

#include <algorithm>

#include <tunesmith/stable/analysis.h>
#include <tunesmith/tiling/sampled_tiles.h>

namespace tunesmith {
namespace {

/// The size of the widest access in bytes.
constexpr int64_t kAccessBytes = 16;

/// Lanes of a vector of the narrowest element that moves with the last iterator.
int64_t widest_lanes(const Block& block) {
  const size_t last = block.iters().size() - 1;
  std::vector<Access> accesses = reads_of(block);
  accesses.push_back(writes_of(block).front());
  int64_t bytes = kAccessBytes;
  for (const Access& access : accesses) {
    if (access.uses(last)) bytes = std::min<int64_t>(bytes, access.buffer->dtype.bytes());
  }
  return kAccessBytes / bytes;
}

}  // namespace

StreamSketch stream_elementwise_in_threads(const Schedule& schedule, const std::string& block,
                                           const ThreadPlaces& places, const ThreadChoices& choices) {
  StreamSketch sketch{schedule.clone(), {}};
  Schedule& made = sketch.schedule;
  const BlockRV rv = made.get_block(block);
  const std::vector<LoopRV> loops = made.get_loops(rv);
  const LoopRV all = loops.size() > 1 ? made.fuse(loops) : loops.front();
  const int64_t widest = widest_lanes(made.block(rv));
  std::vector<int64_t> lanes{widest};
  if (widest > 1) lanes.push_back(widest / 2);
  const IntRV vectors = sample_one_of(made, choices.vectors);
  const IntRV threads = sample_one_of(made, choices.threads);
  const IntRV lane = sample_one_of(made, lanes);
  const std::vector<LoopRV> parts = made.split(all, {std::nullopt, vectors, threads, lane});
  made.reorder({parts[0], parts[2], parts[1], parts[3]});
  made.bind(parts[0], places.blocks);
  made.bind(parts[2], places.threads);
  made.unroll(parts[1]);
  made.vectorize(parts[3]);
  sketch.blocks.push_back(rv);
  return sketch;
}

}  // namespace tunesmith
