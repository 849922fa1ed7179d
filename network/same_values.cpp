#include "same_values.h"

#include <algorithm>

namespace tunesmith::network {
namespace {

constexpr int64_t kMaxCompared = 64;  // elements: counts are computed of few

}  // namespace

TensorIndex SameValues::first(TensorIndex tensor, size_t end) {
  for (; known_ < end; ++known_) add(known_);
  return first_known(tensor);
}

TensorIndex SameValues::first_known(TensorIndex tensor) {
  if (tensor == kAbsent) return tensor;
  if (const auto found = first_.find(tensor); found != first_.end()) return found->second;
  const Constant* constant = network_.tensor(tensor).constant.get();
  if (constant == nullptr || element_count(constant->shape) > kMaxCompared) return tensor;
  std::vector<TensorIndex>& alike =
      constants_[{constant->dtype.str(), network_.tensor(tensor).code, constant->shape}];
  const auto found = std::ranges::find_if(alike, [&](TensorIndex other) {
    return std::ranges::equal(network_.tensor(other).constant->bytes, constant->bytes);
  });
  if (found != alike.end()) return first_[tensor] = *found;
  alike.push_back(tensor);
  return first_[tensor] = tensor;
}

void SameValues::add(size_t node) {
  const Node& added = network_.nodes[node];
  if (!added.bodies.empty()) return;
  Key key{added.op, added.version, {}};
  for (const TensorIndex input : added.inputs) std::get<2>(key).push_back(first_known(input));
  const auto [begin, end] = nodes_.equal_range(key);
  const auto found = std::find_if(begin, end, [&](const auto& other) {
    const Node& earlier = network_.nodes[other.second];
    return earlier.definition == added.definition && earlier.attributes == added.attributes &&
           earlier.outputs.size() == added.outputs.size();
  });
  if (found == end) {
    nodes_.emplace(std::move(key), node);
    return;
  }
  const std::vector<TensorIndex>& earlier = network_.nodes[found->second].outputs;
  for (size_t i = 0; i < earlier.size(); ++i)
    if (earlier[i] != kAbsent && added.outputs[i] != kAbsent) first_[added.outputs[i]] = earlier[i];
}

}  // namespace tunesmith::network
