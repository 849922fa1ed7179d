// A trace for another instance of its workload.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "tunesmith/trace/trace.h"

namespace tunesmith {

/// Adapts traces to another shape: where they fuse iterators of a matrix product
/// they contain extents, as in (y * 112 + x), which differ in another instance.
class TraceForShape {
 public:
  /// `trace` applies to `program`; both outlive this.
  /// `intrinsics`: as in a schedule's constructor.
  TraceForShape(const Program& program, const Trace& trace,
                std::shared_ptr<const TensorIntrinsics> intrinsics = nullptr);

  /// Does it fuse iterators, so that it depends on the instance?
  bool fuses() const { return !fusions_.empty(); }
  /// `trace` with fused iterators as matrix_product.h gives them for `instance`, where it
  /// fuses them as for `program`; else unchanged. Nothing if it does not apply to that point.
  std::optional<Trace> of(const Program& instance) const;

 private:
  const Trace& trace_;
  std::shared_ptr<const TensorIntrinsics> intrinsics_;
  std::vector<size_t> fusions_;  // positions of instructions that may change
};

}  // namespace tunesmith
