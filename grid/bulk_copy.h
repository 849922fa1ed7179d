// Copies that one thread makes for all.
#pragma once

#include "tunesmith/intrinsics/tensor_intrinsic.h"
#include "tunesmith/ir/stmt.h"
#include "tunesmith/lower/lower.h"

namespace tunesmith {

/// Does the loop call, or is to call, an intrinsic that is one (TensorIntrinsic::bulk_copy)?
inline bool is_bulk_copy(const Loop& loop, const LowerOptions& options) {
  const TensorIntrinsicPtr intrinsic = called_intrinsic(loop.annotations, options.intrinsics);
  return intrinsic != nullptr && intrinsic->bulk_copy;
}

}  // namespace tunesmith
