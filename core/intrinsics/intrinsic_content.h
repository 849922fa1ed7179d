#pragma once

#include <string>

#include "tunesmith/intrinsics/tensor_intrinsic.h"

namespace tunesmith {

/// All that an intrinsic says but the places of its texts: two with the same content are the same.
std::string content_of(const TensorIntrinsic& intrinsic);

}  // namespace tunesmith
