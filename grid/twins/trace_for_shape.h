// A trace for another instance of its workload.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "tunesmith/trace/trace.h"

namespace tunesmith {

/// Traces name the extents of a product of matrices where they fuse its iterators, as in
/// (y * 112 + x): an instance with another x needs another number there.
class TraceForShape {
 public:
  /// `trace` applies to `program`, and both outlive this. `intrinsics`: as a schedule's constructor takes
  /// them.
  TraceForShape(const Program& program, const Trace& trace,
                std::shared_ptr<const TensorIntrinsics> intrinsics = nullptr);

  /// Does it fuse iterators, so that it depends on the instance?
  bool fuses() const { return !fusions_.empty(); }
  /// `trace` with the iterators of products fused as matrix_product.h says of `instance`, where it fuses them
  /// as that says of `program`; else as it is. Nothing where it does not apply that far.
  std::optional<Trace> of(const Program& instance) const;

 private:
  const Trace& trace_;
  std::shared_ptr<const TensorIntrinsics> intrinsics_;
  std::vector<size_t> fusions_;  // positions of the instructions that may change
};

}  // namespace tunesmith
