#include "reduced.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace tunesmith::operators_onnx {

Reduced reduce(const Shape& shape, const std::vector<size_t>& axes, bool keep) {
  Reduced made;
  for (size_t i = 0; i < shape.size(); ++i) {
    const bool is_reduced = std::ranges::find(axes, i) != axes.end();
    if (is_reduced) {
      made.read.push_back(fmt::format("r{}", made.axes.size()));
      made.axes.push_back(made.read.back());
      made.extents.push_back(shape[i]);
      made.of_kept.emplace_back("0");
      if (keep) made.output.push_back(1);
    } else {
      made.read.push_back(fmt::format("i{}", made.output.size()));
      made.of_kept.push_back(fmt::format("i{}", i));
      made.output.push_back(shape[i]);
    }
  }
  return made;
}

std::vector<size_t> axes_from(size_t first, size_t rank) {
  std::vector<size_t> axes(rank - first);
  std::iota(axes.begin(), axes.end(), first);
  return axes;
}

}  // namespace tunesmith::operators_onnx
