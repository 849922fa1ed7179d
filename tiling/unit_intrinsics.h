// Which of a unit's intrinsics multiply two factors: by the types of the block, and by the order in which
// rows of the factors lie.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "tunesmith/intrinsics/tensor_intrinsic.h"
#include "tunesmith/tiling/group_tiling.h"

namespace tunesmith {

/// What is to be multiplied: C += A * B.
struct ProductTypes {
  DType sum;
  std::array<DType, 2> factors;
};

struct UnitIntrinsics {
  TensorIntrinsicPtr product;
  std::array<TensorIntrinsicPtr, 2> loads;
  TensorIntrinsicPtr zero;
  TensorIntrinsicPtr store;
};

/// Does the product take A (0), or B (1), with the reduction as last dimension?
bool takes_reduction_last(const TensorIntrinsic& product, size_t factor);
/// Does the load exchange rows and columns?
bool turns(const TensorIntrinsic& load);

/// Of `unit` a product of these types, and what loads, begins and stores in the layouts that it takes; loads
/// that read the factors in the order given are preferred, then what comes first. Nothing where there is no
/// such product.
std::optional<UnitIntrinsics> choose_intrinsics(const std::vector<TensorIntrinsicPtr>& unit,
                                                const ProductTypes& types,
                                                const std::array<bool, 2>& reduction_last,
                                                const GroupTiling& tiling);

}  // namespace tunesmith
