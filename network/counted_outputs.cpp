#include "tunesmith/network/counted_outputs.h"

#include <algorithm>

#include <fmt/format.h>

#include "tunesmith/support/error.h"
#include "values.h"

namespace tunesmith::network {

tunesmith::Tensor first_of(const tunesmith::Tensor& whole, size_t axis, int64_t count) {
  const auto at = static_cast<std::ptrdiff_t>(axis);
  const int64_t row = element_count({whole.shape.begin() + at + 1, whole.shape.end()}) * whole.dtype.bytes();
  tunesmith::Tensor made{whole.dtype, whole.shape, {}};
  made.shape[axis] = count;
  for (auto begin = whole.bytes.begin(); begin != whole.bytes.end(); begin += whole.shape[axis] * row)
    made.bytes.insert(made.bytes.end(), begin, begin + count * row);
  return made;
}

bool is_count(std::span<const CountedOutput> counted, size_t output) {
  return std::ranges::find(counted, output, &CountedOutput::by) != counted.end();
}

std::vector<tunesmith::Tensor> cut_to_counts(std::span<const CountedOutput> counted,
                                             std::vector<tunesmith::Tensor> outputs) {
  for (const CountedOutput& each : counted) {
    tunesmith::Tensor& output = outputs.at(each.output);
    const int64_t count = outputs.at(each.by).get_int(0), bound = output.shape.at(each.axis);
    if (count < 0 || count > bound)
      throw Error(fmt::format("result {} has {} elements along axis {}, where 0 to {} are expected",
                              each.output, count, each.axis, bound));
    output = first_of(output, each.axis, count);
  }
  std::vector<tunesmith::Tensor> named;
  for (size_t i = 0; i < outputs.size(); ++i)
    if (!is_count(counted, i)) named.push_back(std::move(outputs[i]));
  return named;
}

}  // namespace tunesmith::network
