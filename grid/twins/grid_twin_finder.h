// Twins of candidates for a device with a grid of threads.
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
  std::vector<size_t> apart;  // launches that do not correspond, as have_one_structure() takes them
};

/// Safe to use from several threads. `workload` and `space` outlive it.
class GridTwinFinder final : public ReducedInstanceFinder {
 public:
  GridTwinFinder(const Workload& workload, const Space& space);

  /// Shrinks one parameter of the workload after the other, the largest first, while the candidate's trace
  /// (trace_for_shape.h) applies with all factors of its tiles but the outermost, until a call is little
  /// work. Instructions are called with the strides of the full shape. The same answer whatever was asked
  /// before. Nothing for a candidate that is little work, or has no smaller twin. Throws LowerError where the
  /// target refuses the candidate.
  std::optional<GridTwin> find_grid_twin(const Candidate& candidate) const;
  std::optional<Twin> find(const Candidate& candidate) const override { return find_grid_twin(candidate); }

 private:
  using Values = std::vector<int64_t>;
  struct Original;

  struct Instance {
    std::shared_ptr<const Workload> workload;  // null where the definition does not allow these values
    /// Of all iterators of its blocks, and of the products of matrices that they are.
    std::vector<int64_t> extents;
  };
  const Instance& instance(const Values& values) const;
  /// Of one parameter, of which all have `values` now.
  std::vector<int64_t> smaller_values(const Original& original, const Values& values, size_t param) const;
  /// Does the candidate's schedule apply to the instance, with the tiles that it has?
  bool applies(const Original& original, const Values& values) const;
  /// Names of buffers that lie as those of the full shape; the others lie without gaps.
  using Spread = std::set<std::string>;
  /// Needs applies().
  std::optional<GridTwin> twin_at(const Original& original, const Values& values, const Spread& spread) const;
  std::optional<GridTwin> smallest_twin(const Original& original, const Spread& spread) const;
  /// The smallest values that `passes` lets pass, and those on the way to them.
  using Passes = std::function<bool(const Values&)>;
  Values shrink(const Original& original, const Passes& passes) const;

  const Workload& workload_;
  const Space& space_;
  IndependentLaunches independent_launches_;
  std::optional<WorkloadDefinition> definition_;
  std::vector<ParamText> given_;  // all that the workload was made with
  std::vector<size_t> params_;    // of these, those that may be shrunk
  Values own_;                    // their values
  mutable std::mutex mutex_;
  mutable std::map<Values, Instance> instances_;
};

}  // namespace tunesmith
