#include "elementwise.h"

#include <algorithm>
#include <optional>

#include <tunesmith/stable/analysis.h>
#include <tunesmith/tiling/lane_reduction.h>
#include <tunesmith/tiling/vector_lanes.h>

namespace tunesmith {
namespace {

/// Is every access the iterators in their order, over whole buffers? Then the nest is one loop over memory.
bool is_one_loop(const Block& block) {
  const std::vector<IterVar> iters = block.iters();
  std::vector<Access> accesses = reads_of(block);
  const std::vector<Access> writes = writes_of(block);
  accesses.insert(accesses.end(), writes.begin(), writes.end());
  return std::ranges::all_of(accesses, [&](const Access& access) {
    if (access.indices.size() != iters.size()) return false;
    for (size_t i = 0; i < iters.size(); ++i) {
      if (access.indices[i].iterator != i || access.buffer->shape[i] != iters[i].extent) return false;
    }
    return true;
  });
}

}  // namespace

bool is_streamed_elementwise(const Block& block) {
  if (!is_elementwise(block) || block.iters().empty()) return false;
  const size_t last = block.iters().size() - 1;
  const std::vector<Access> writes = writes_of(block);
  if (writes.front().indices.empty() || writes.front().indices.back().iterator != last) return false;
  return std::ranges::all_of(reads_of(block), [&](const Access& read) {
    return !read.uses(last) || read.indices.back().iterator == last;
  });
}

StreamSketch stream_elementwise(const Schedule& schedule, const std::string& block,
                                const StreamChoices& choices) {
  StreamSketch sketch{schedule.clone(), {}};
  Schedule& made = sketch.schedule;
  const BlockRV rv = made.get_block(block);
  std::vector<LoopRV> loops = made.get_loops(rv);
  if (is_one_loop(made.block(rv)) && loops.size() > 1) loops = {made.fuse(loops)};
  const int64_t lanes = vector_lanes(made, rv, choices.vector_bits);
  const int64_t extent = made.facts(loops.back()).extent;
  std::vector<int64_t> widths = widths_within(extent, lanes, 1, choices.accumulators);
  if (widths.empty()) widths.push_back(extent);
  const std::vector<LoopRV> halves =
      made.split(loops.back(), {std::nullopt, sample_width(made, extent, widths)});
  loops.back() = halves[0];
  // A loop over rows only is parallel if it has enough of them: contents of a row do not count.
  int64_t rows = 1;
  for (size_t i = 0; i + 1 < loops.size(); ++i) rows *= made.facts(loops[i]).extent;
  if (rows >= 4 * choices.cores) loops.pop_back();
  made.vectorize(halves[1]);
  const LoopRV parallel = loops.size() > 1 ? made.fuse(loops) : loops.front();
  made.parallel(parallel);
  if (bytes_of(writes_of(made.block(rv)).front().buffer) > choices.private_cache_bytes)
    made.annotate(parallel, "nontemporal", sample_one_of(made, {0, 1}));
  sketch.blocks.push_back(rv);
  return sketch;
}

}  // namespace tunesmith
