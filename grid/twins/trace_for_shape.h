// Adapts traces to other instances of their workload.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "tunesmith/trace/trace.h"

namespace tunesmith {

/// Adapts one trace to another shape: fusing iterators of a matrix product puts extents into it, as in (y *
/// 112 + x), which differ in another instance.
class TraceForShape {
 public:
  /// `trace` applies to `program`; both outlive this.
  /// `intrinsics`: as in a schedule's constructor.
  TraceForShape(const Program& program, const Trace& trace,
                std::shared_ptr<const TensorIntrinsics> intrinsics = nullptr);

  /// Does it fuse iterators, so that it depends on the instance?
  bool fuses() const { return !fusions_.empty(); }
  /// `trace` with the iterators fused as matrix_product.h does for `instance`, if it fused them so for
  /// `program`; else unchanged. Nothing if it does not apply up to that point.
  std::optional<Trace> of(const Program& instance) const;

 private:
  const Trace& trace_;
  std::shared_ptr<const TensorIntrinsics> intrinsics_;
  std::vector<size_t> fusions_;  // positions of instructions that may change
};

}  // namespace tunesmith
