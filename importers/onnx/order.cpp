#include "order.h"

#include <functional>
#include <queue>

#include <fmt/format.h>

namespace tunesmith::onnx_reader {

void order_nodes(network::Network& network, Faults& faults) {
  using network::kAbsent;
  std::vector<network::Node>& nodes = network.nodes;
  constexpr size_t kNobody = SIZE_MAX;
  std::vector<size_t> producer(network.tensors.size(), kNobody);
  for (size_t i = 0; i < nodes.size(); ++i)
    for (const network::TensorIndex output : nodes[i].outputs)
      if (output != kAbsent) producer[static_cast<size_t>(output)] = i;

  std::vector<size_t> waits_for(nodes.size(), 0);
  std::vector<std::vector<size_t>> readers(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (const network::TensorIndex input : nodes[i].inputs) {
      if (input == kAbsent || producer[static_cast<size_t>(input)] == kNobody) continue;
      readers[producer[static_cast<size_t>(input)]].push_back(i);
      ++waits_for[i];
    }
  }
  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
  for (size_t i = 0; i < nodes.size(); ++i)
    if (waits_for[i] == 0) ready.push(i);
  std::vector<network::Node> ordered;
  ordered.reserve(nodes.size());
  while (!ready.empty()) {
    const size_t next = ready.top();
    ready.pop();
    ordered.push_back(std::move(nodes[next]));
    for (const size_t reader : readers[next])
      if (--waits_for[reader] == 0) ready.push(reader);
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (waits_for[i] > 0)
      faults.add(fmt::format("node '{}' ({}): it reads what follows from its own outputs", nodes[i].name,
                             nodes[i].op));
  }
  nodes = std::move(ordered);
}

}  // namespace tunesmith::onnx_reader
