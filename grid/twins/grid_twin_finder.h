// Finds twins of candidates for a device with a grid of threads.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tunesmith/search/candidate.h"
#include "tunesmith/space/space.h"
#include "tunesmith/target/twin_verification.h"
#include "tunesmith/workload/workload.h"
#include "twins/independent_launches.h"

namespace tunesmith {

struct GridTwin : Twin {
  std::vector<size_t> apart;  // launches that need not correspond, for have_one_structure()
};

/// Thread-safe. `workload` and `space` outlive it.
class GridTwinFinder final : public ReducedInstanceFinder {
 public:
  GridTwinFinder(const Workload& workload, const Space& space);

  /// Shrinks the workload's parameters in turn, the largest first, while the candidate's
  /// trace (trace_for_shape.h) applies with all tile factors but the outermost, until a
  /// call is little work. Intrinsics keep the strides of the full shape. Independent of
  /// earlier calls. Nothing if the candidate itself is little work or has no smaller
  /// twin. Throws LowerError if the target refuses the candidate.
  std::optional<GridTwin> find_grid_twin(const Candidate& candidate) const;
  std::optional<Twin> find(const Candidate& candidate) const override { return find_grid_twin(candidate); }

 private:
  using Values = std::vector<int64_t>;
  struct Original;

  struct Instance {
    std::shared_ptr<const Workload> workload;  // null if the definition does not allow these values
    /// The extents of all iterators of its blocks, and of the matrix products that they are.
    std::vector<int64_t> extents;
  };
  const Instance& instance(const Values& values) const;
  /// Values for one parameter while all have `values`.
  std::vector<int64_t> smaller_values(const Original& original, const Values& values, size_t param) const;
  /// Does the candidate's schedule apply to the instance, with the tiles that it has?
  bool applies(const Original& original, const Values& values) const;
  /// Names of buffers with the strides of the full shape; the others are contiguous.
  using Spread = std::set<std::string>;
  /// Needs applies().
  std::optional<GridTwin> twin_at(const Original& original, const Values& values, const Spread& spread) const;
  std::optional<GridTwin> smallest_twin(const Original& original, const Spread& spread) const;
  /// The smallest values for which `passes` is true, and those on the way to them.
  using Passes = std::function<bool(const Values&)>;
  Values shrink(const Original& original, const Passes& passes) const;

  const Workload& workload_;
  const Space& space_;
  IndependentLaunches independent_launches_;
  std::optional<WorkloadDefinition> definition_;
  std::vector<ParamText> given_;  // all parameters of the workload
  std::vector<size_t> params_;    // of these, the ones that may shrink
  Values own_;                    // their values
  mutable std::mutex mutex_;
  mutable std::map<Values, Instance> instances_;
};

}  // namespace tunesmith
