#include "data_flow.h"

#include <set>

namespace tunesmith::network {

DataFlow::DataFlow(const Network& network)
    : readers_(network.nodes.size()),
      makers_(network.tensors.size(), network.nodes.size()),
      is_read_(network.tensors.size(), false),
      is_result_(network.nodes.size(), false),
      post_dominators_(network.nodes.size(), network.nodes.size()),
      depths_(network.nodes.size() + 1, 0) {
  for (size_t i = 0; i < network.nodes.size(); ++i) {
    for (const TensorIndex input : network.nodes[i].inputs) {
      if (input == kAbsent) continue;
      is_read_[static_cast<size_t>(input)] = true;
      const size_t maker = makers_[static_cast<size_t>(input)];
      if (maker != end() && (readers_[maker].empty() || readers_[maker].back() != i))
        readers_[maker].push_back(i);
    }
    for (const TensorIndex output : network.nodes[i].outputs) {
      if (output != kAbsent) makers_[static_cast<size_t>(output)] = i;
    }
  }
  for (const TensorIndex output : network.outputs) {
    is_read_[static_cast<size_t>(output)] = true;
    const size_t maker = makers_[static_cast<size_t>(output)];
    if (maker != end()) is_result_[maker] = true;
  }
  for (const Loop& loop : network.loops) keep_what_passes(network, loop);
  for (size_t i = network.nodes.size(); i-- > 0;) {
    size_t point = end();
    if (!is_result_[i] && !readers_[i].empty()) {
      point = readers_[i].front();
      for (const size_t reader : readers_[i]) point = common(point, reader);
    }
    post_dominators_[i] = point;
    depths_[i] = depths_[point] + 1;
  }
}

void DataFlow::keep_what_passes(const Network& network, const Loop& loop) {
  const auto keep = [&](TensorIndex tensor) {
    is_read_[static_cast<size_t>(tensor)] = true;
    const size_t maker = makers_[static_cast<size_t>(tensor)];
    if (maker != end()) is_result_[maker] = true;
  };
  for (const Loop::Carried& carried : loop.carried) {
    keep(carried.first);
    keep(carried.after);
  }
  for (const Loop::Slice& slice : loop.read) keep(slice.whole);
  for (const Loop::Slice& slice : loop.written) keep(slice.part);
  for (size_t i = loop.first_node; i < loop.end_node; ++i)
    for (const TensorIndex input : network.nodes[i].inputs)
      if (input != kAbsent && makers_[static_cast<size_t>(input)] < loop.first_node) keep(input);
}

size_t DataFlow::common(size_t a, size_t b) const {
  while (a != b) {
    size_t& deeper = depths_[a] >= depths_[b] ? a : b;
    deeper = post_dominators_[deeper];
  }
  return a;
}

std::vector<size_t> DataFlow::paths(size_t node) const {
  const size_t point = post_dominators_[node];
  std::set<size_t> found;
  std::vector<size_t> open = {node};
  while (!open.empty()) {
    const size_t next = open.back();
    open.pop_back();
    for (const size_t reader : readers_[next]) {
      if (found.insert(reader).second && reader != point) open.push_back(reader);
    }
  }
  return {found.begin(), found.end()};
}

}  // namespace tunesmith::network
