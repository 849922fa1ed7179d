#include <algorithm>

#include "placement.h"

namespace tunesmith::network {
namespace {

/// Depth-first search over canonical placements: tensors in the order of their offsets, each at the bottom or
/// on top of another tensor with an overlapping lifetime. Any placement can be pushed down to a canonical
/// one, so the search is complete.
class Search {
 public:
  Search(std::span<const Lifetime> tensors, int64_t lower_bound, int64_t limit, int64_t max_nodes)
      : tensors_(tensors),
        lower_bound_(lower_bound),
        limit_(limit),
        nodes_left_(max_nodes),
        floors_(tensors.size(), 0),
        offsets_(tensors.size(), kUnplaced),
        neighbours_(tensors.size()) {
    for (size_t i = 0; i < tensors.size(); ++i) {
      for (size_t j = 0; j < tensors.size(); ++j) {
        if (i != j && overlap(tensors[i], tensors[j])) neighbours_[i].push_back(j);
      }
    }
  }

  std::vector<int64_t> run() {
    place_next(tensors_.size(), 0, 0);
    return best_;
  }

 private:
  static constexpr int64_t kUnplaced = -1;

  bool is_done() const { return nodes_left_ <= 0 || limit_ <= lower_bound_; }

  /// Places `left` tensors, none below `lowest`, and none before `first` of those at `lowest`: their order is
  /// irrelevant.
  void place_next(size_t left, int64_t lowest, size_t first) {
    if (left == 0) {
      best_ = offsets_;
      limit_ = extent_of(tensors_, offsets_);
      return;
    }
    for (const size_t i : candidates(lowest, first)) {
      if (is_done()) return;
      --nodes_left_;
      place(i, left);
    }
  }

  /// The tensors that may be next, lowest first; none if a remaining tensor no longer fits below the limit.
  std::vector<size_t> candidates(int64_t lowest, size_t first) const {
    std::vector<size_t> result;
    for (size_t i = 0; i < tensors_.size(); ++i) {
      if (offsets_[i] != kUnplaced) continue;
      if (std::max(floors_[i], lowest) + tensors_[i].bytes >= limit_) return {};
      if (floors_[i] < lowest || (floors_[i] == lowest && i < first)) continue;
      if (!leaves_a_gap(i)) result.push_back(i);
    }
    std::ranges::stable_sort(result, [&](size_t a, size_t b) {
      return std::pair(floors_[a], -tensors_[a].bytes) < std::pair(floors_[b], -tensors_[b].bytes);
    });
    return result;
  }

  /// Does another tensor fit below it? Then that one can come first, at no cost.
  bool leaves_a_gap(size_t i) const {
    return std::ranges::any_of(neighbours_[i], [&](size_t other) {
      return offsets_[other] == kUnplaced && tensors_[other].bytes > 0 &&
             floors_[other] + tensors_[other].bytes <= floors_[i];
    });
  }

  void place(size_t i, size_t left) {
    offsets_[i] = floors_[i];
    std::vector<std::pair<size_t, int64_t>> raised;
    for (const size_t other : neighbours_[i]) {
      const int64_t top = offsets_[i] + tensors_[i].bytes;
      if (offsets_[other] != kUnplaced || floors_[other] >= top) continue;
      raised.emplace_back(other, floors_[other]);
      floors_[other] = top;
    }
    place_next(left - 1, offsets_[i], i + 1);
    for (const auto& [other, floor] : raised) floors_[other] = floor;
    offsets_[i] = kUnplaced;
  }

  std::span<const Lifetime> tensors_;
  int64_t lower_bound_;
  int64_t limit_;
  int64_t nodes_left_;
  std::vector<int64_t> floors_;  // the top of the placed tensors with overlapping lifetimes
  std::vector<int64_t> offsets_;
  std::vector<std::vector<size_t>> neighbours_;
  std::vector<int64_t> best_;
};

}  // namespace

std::vector<int64_t> search_placement(std::span<const Lifetime> tensors, int64_t lower_bound, int64_t limit,
                                      int64_t max_nodes) {
  return Search(tensors, lower_bound, limit, max_nodes).run();
}

}  // namespace tunesmith::network
