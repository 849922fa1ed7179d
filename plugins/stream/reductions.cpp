#include "reductions.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <tunesmith/stable/analysis.h>
#include <tunesmith/tiling/lane_reduction.h>
#include <tunesmith/tiling/vector_lanes.h>

namespace tunesmith {
namespace {

/// More results than this for each core are not computed in pieces of their reductions.
constexpr int64_t kResultsInPieces = 16;

struct Loops {
  std::vector<LoopRV> spatial;
  std::vector<LoopRV> reduction;
};

LoopRV fused(Schedule& schedule, const std::vector<LoopRV>& loops) {
  return loops.size() > 1 ? schedule.fuse(loops) : loops.front();
}

/// The block's loops, with those over results outermost.
Loops ordered(Schedule& schedule, BlockRV block) {
  Loops loops;
  for (const LoopRV& loop : schedule.get_loops(block)) {
    (schedule.use_of(loop, block).reduction ? loops.reduction : loops.spatial).push_back(loop);
  }
  std::vector<LoopRV> order = loops.spatial;
  order.insert(order.end(), loops.reduction.begin(), loops.reduction.end());
  if (order.size() > 1) schedule.reorder(order);
  return loops;
}

class Reduction {
 public:
  Reduction(const Schedule& schedule, const std::string& block, const ReductionForm& form,
            const StreamChoices& choices)
      : schedule_(schedule.clone()),
        form_(form),
        choices_(choices),
        block_(schedule_.get_block(block)),
        lanes_(vector_lanes(schedule_, block_, choices.vector_bits)) {}

  /// Results in parallel, each along its row.
  StreamSketch rows() && {
    Loops loops = ordered(schedule_, block_);
    if (form_.dense) fused(schedule_, loops.reduction);
    accumulate_along(block_, loops.spatial.size());
    return std::move(*this).sketch();
  }

  /// Pieces of the reduction in parallel, each along memory, and a small reduction of their results.
  StreamSketch pieces_along(bool prefetches) && {
    Loops loops = ordered(schedule_, block_);
    const LoopRV whole = form_.dense ? fused(schedule_, loops.reduction) : loops.reduction.front();
    const int64_t longest = (schedule_.facts(whole).extent - 1) / choices_.jobs.front() / choices_.cores + 1;
    const std::vector<int64_t> widths = widths_within(longest, lanes_, 2, choices_.accumulators);
    const int64_t widest = widths.empty() ? lanes_ : *std::ranges::max_element(widths);
    const BlockRV partial = cut_in_pieces(whole, static_cast<int64_t>(loops.spatial.size()), widest + 1);
    const std::vector<BlockRV> lanes = accumulate_along(partial, loops.spatial.size() + 1);
    if (prefetches && !lanes.empty()) {
      const std::vector<LoopRV> steps = schedule_.get_loops(lanes.front());
      schedule_.annotate(steps[steps.size() - 2], "prefetch",
                         sample_one_of(schedule_, choices_.prefetch_steps));
    }
    return std::move(*this).sketch();
  }

  /// Panels of neighbouring results in parallel.
  StreamSketch panels(bool prefetches) && {
    ordered(schedule_, block_);
    accumulate_across(block_, choices_.cores, 0, prefetches);
    return std::move(*this).sketch();
  }

  /// Pieces of the reduction in parallel, of panels of neighbouring results.
  StreamSketch pieces_across(bool prefetches) && {
    const Loops loops = ordered(schedule_, block_);
    const BlockRV partial = cut_in_pieces(loops.reduction.front(), 0, 2);
    std::vector<LoopRV> order = schedule_.get_loops(partial);
    const auto job = order.begin() + static_cast<std::ptrdiff_t>(loops.spatial.size());
    std::rotate(order.begin(), job, job + 1);
    schedule_.reorder(order);
    accumulate_across(partial, 1, 1, prefetches);
    finish_results();
    return std::move(*this).sketch();
  }

 private:
  StreamSketch sketch() && { return {std::move(schedule_), std::move(made_)}; }

  /// Numbers of pieces that leave each `shortest` steps, so that whichever is drawn the same loops are left;
  /// those that divide the reduction are likelier.
  BlockRV cut_in_pieces(LoopRV loop, int64_t axis, int64_t shortest) {
    const int64_t extent = schedule_.facts(loop).extent;
    std::vector<int64_t> counts;
    for (const int64_t jobs : choices_.jobs) {
      if (jobs == choices_.jobs.front() || shortest * jobs * choices_.cores <= extent)
        counts.push_back(std::min(jobs * choices_.cores, extent));
    }
    const IntRV count = sample_width(schedule_, extent, counts);
    const BlockRV partial = schedule_.rfactor(schedule_.split(loop, {count, std::nullopt})[0], axis);
    made_.push_back(block_);
    return partial;
  }

  /// Computes the last reduction loop with several accumulators under the first
  /// `around` loops, which are parallel. Returns the blocks of partial results.
  std::vector<BlockRV> accumulate_along(BlockRV block, size_t around) {
    const std::vector<BlockRV> partials = factor_into_lanes(schedule_, block, lanes_, choices_.accumulators);
    std::vector<LoopRV> outer = schedule_.get_loops(block);
    outer.resize(around);
    const LoopRV parallel = fused(schedule_, outer);
    for (size_t i = partials.size(); i-- > 0;) schedule_.compute_at(partials[i], parallel);
    made_.push_back(block);
    made_.insert(made_.end(), partials.begin(), partials.end());
    const std::vector<BlockRV> inits = finish_lane_reduction(schedule_, block, partials);
    made_.insert(made_.end(), inits.begin(), inits.end());
    schedule_.parallel(parallel);
    return partials;
  }

  /// Keeps a panel's results in registers until its reduction is complete. The
  /// first `outside` loops around panels are parallel, or all if that is 0.
  void accumulate_across(BlockRV block, int64_t min_panels, size_t outside, bool prefetches) {
    const BlockRV writer = schedule_.cache_write(block, 0, "local");
    std::vector<LoopRV> around = schedule_.get_loops(writer);
    const int64_t extent = schedule_.facts(around.back()).extent;
    std::vector<int64_t> widths = widths_within(extent, lanes_, 1, choices_.accumulators);
    std::erase_if(widths, [&](int64_t width) { return results_ / extent * (extent / width) < min_panels; });
    if (widths.empty()) widths.push_back(std::min(extent, lanes_));
    const std::vector<LoopRV> columns =
        schedule_.split(around.back(), {std::nullopt, sample_width(schedule_, extent, widths)});
    around.back() = columns[0];
    std::vector<LoopRV> in_parallel = around;
    if (outside > 0) in_parallel.resize(outside);
    const LoopRV parallel = fused(schedule_, in_parallel);
    schedule_.compute_at(block, outside > 0 ? around.back() : parallel);
    made_.insert(made_.end(), {block, writer});
    walk_down(block, schedule_.get_loops(block), prefetches);
    schedule_.vectorize(columns[1]);
    schedule_.parallel(parallel);
  }

  /// The reduction of one panel: outside of the loop over its results, which are lanes.
  void walk_down(BlockRV block, const std::vector<LoopRV>& loops, bool prefetches) {
    const auto first = std::ranges::find_if(
        loops, [&](const LoopRV& loop) { return schedule_.use_of(loop, block).reduction; });
    const LoopRV lanes = *(first - 1);
    std::vector<LoopRV> order(first, loops.end());
    order.push_back(lanes);
    schedule_.reorder(order);
    const BlockRV init = schedule_.decompose_reduction(block, *first);
    made_.push_back(init);
    schedule_.vectorize(lanes);
    schedule_.vectorize(schedule_.get_loops(init).back());
    if (prefetches)
      schedule_.annotate(loops.back(), "prefetch", sample_one_of(schedule_, choices_.prefetch_rows));
  }

  /// Vectorises the combination of the pieces.
  void finish_results() {
    const std::vector<LoopRV> loops = schedule_.get_loops(block_);
    Loops its;
    for (const LoopRV& loop : loops) {
      (schedule_.use_of(loop, block_).reduction ? its.reduction : its.spatial).push_back(loop);
    }
    const LoopRV columns = its.spatial.back();
    const int64_t extent = schedule_.facts(columns).extent;
    const std::vector<LoopRV> halves = schedule_.split(columns, {std::nullopt, std::min(extent, lanes_)});
    std::vector<LoopRV> order{halves[0]};
    order.insert(order.end(), its.reduction.begin(), its.reduction.end());
    order.push_back(halves[1]);
    schedule_.reorder(order);
    const BlockRV init = schedule_.decompose_reduction(block_, its.reduction.front());
    made_.push_back(init);
    schedule_.vectorize(halves[1]);
    schedule_.vectorize(schedule_.get_loops(init).back());
  }

  Schedule schedule_;
  const ReductionForm& form_;
  const StreamChoices& choices_;
  BlockRV block_;
  int64_t lanes_;
  int64_t results_ = iteration_count(schedule_.block(block_)).spatial;
  std::vector<BlockRV> made_;
};

/// Is the input larger than all private caches? Pieces are then longer than a vector, too.
bool fetches_ahead(const Block& block, const ReductionForm& form, const StreamChoices& choices) {
  if (choices.prefetch_steps.empty() || !form.dense) return false;
  return std::ranges::any_of(reads_of(block), [&](const Access& read) {
    return bytes_of(read.buffer) > choices.private_cache_bytes * choices.cores;
  });
}

}  // namespace

std::vector<StreamSketch> stream_reduction(const Schedule& schedule, const std::string& block,
                                           const ReductionForm& form, const StreamChoices& choices) {
  const IterationCount count = iteration_count(*schedule.program().find_block(block));
  const auto reduction = [&] { return Reduction(schedule, block, form, choices); };
  const bool in_pieces = count.spatial < kResultsInPieces * choices.cores;
  std::vector<StreamSketch> sketches;
  if (form.direction == Direction::Along) {
    if (count.spatial >= choices.cores) sketches.push_back(reduction().rows());
    if (!in_pieces && !sketches.empty()) return sketches;
    sketches.push_back(reduction().pieces_along(false));
    if (fetches_ahead(*schedule.program().find_block(block), form, choices))
      sketches.push_back(reduction().pieces_along(true));
    return sketches;
  }
  for (const bool prefetches : {false, true}) {
    if (prefetches && choices.prefetch_rows.empty()) continue;
    sketches.push_back(reduction().panels(prefetches));
    if (count.reduction > count.spatial / choices.cores)
      sketches.push_back(reduction().pieces_across(prefetches));
  }
  return sketches;
}

}  // namespace tunesmith
