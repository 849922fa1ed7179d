#include "tunesmith/tuning/similar_tasks.h"

#include <cmath>
#include <limits>
#include <string>

#include "tunesmith/support/hash.h"

namespace tunesmith {

uint64_t similarity_group(const Workload& workload) {
  std::string text = workload.definition;
  for (const auto* buffers : {&workload.program.inputs, &workload.program.outputs}) {
    for (const Buffer& buffer : *buffers) text += "\n" + buffer->dtype.str();
  }
  return hash_bytes(text);
}

double shape_distance(const Workload& a, const Workload& b) {
  constexpr double kFar = std::numeric_limits<double>::infinity();
  double distance = 0.0;
  for (const auto buffers : {&Program::inputs, &Program::outputs}) {
    const std::vector<Buffer>& left = a.program.*buffers;
    const std::vector<Buffer>& right = b.program.*buffers;
    if (left.size() != right.size()) return kFar;
    for (size_t i = 0; i < left.size(); ++i) {
      const std::vector<int64_t>& shape = left[i]->shape;
      const std::vector<int64_t>& other = right[i]->shape;
      if (shape.size() != other.size()) return kFar;
      for (size_t d = 0; d < shape.size(); ++d)
        distance += std::abs(std::log2(static_cast<double>(shape[d]) / static_cast<double>(other[d])));
    }
  }
  return distance;
}

}  // namespace tunesmith
