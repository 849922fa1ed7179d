// A tensor of 16-bit elements from which boxes are copied: what a map of it says.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>

namespace tunesmith::cuda {

/// The innermost dimension comes first; what lies beyond `rank` is 0. Strides are in elements, the first one
/// is 1.
struct BoxedTensor {
  static constexpr size_t kMaxRank = 4;
  using Sizes = std::array<unsigned, kMaxRank>;

  unsigned rank = 0;  // 0: no map
  Sizes extents{}, strides{}, box{};

  /// Where `box_sizes` has as many dimensions, and rows lie together.
  static BoxedTensor dense(std::initializer_list<unsigned> sizes, std::initializer_list<unsigned> box_sizes) {
    BoxedTensor tensor{static_cast<unsigned>(sizes.size()), {}, {}, {}};
    std::ranges::copy(sizes, tensor.extents.begin());
    std::ranges::copy(box_sizes, tensor.box.begin());
    unsigned stride = 1;
    for (size_t d = 0; d < tensor.rank; stride *= tensor.extents[d++]) tensor.strides[d] = stride;
    return tensor;
  }

  bool operator==(const BoxedTensor&) const = default;
};

}  // namespace tunesmith::cuda
