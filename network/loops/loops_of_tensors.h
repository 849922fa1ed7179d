// Maps tensors to the loops that compute them.
#pragma once

#include <map>

#include "tunesmith/network/network.h"

namespace tunesmith::network {

/// Tensors outside of loops are absent.
inline std::map<TensorIndex, const Loop*> loops_of_tensors(const Network& network) {
  std::map<TensorIndex, const Loop*> loops;
  for (const Loop& loop : network.loops)
    for (size_t i = loop.first_node; i < loop.end_node; ++i)
      for (const TensorIndex output : network.nodes[i].outputs) loops[output] = &loop;
  return loops;
}

}  // namespace tunesmith::network
