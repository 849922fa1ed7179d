// Bulk copies, which one thread issues for all.
#pragma once

#include "tunesmith/intrinsics/tensor_intrinsic.h"
#include "tunesmith/ir/stmt.h"
#include "tunesmith/lower/lower.h"

namespace tunesmith {

/// Does the loop call, or is it annotated to call, a bulk copy (TensorIntrinsic::bulk_copy)?
inline bool is_bulk_copy(const Loop& loop, const LowerOptions& options) {
  const TensorIntrinsicPtr intrinsic = called_intrinsic(loop.annotations, options.intrinsics);
  return intrinsic != nullptr && intrinsic->bulk_copy;
}

}  // namespace tunesmith
