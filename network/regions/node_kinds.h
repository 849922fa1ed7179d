// What sort of work a node is, by its program.
#pragma once

#include <cstdint>
#include <vector>

#include "tunesmith/network/network.h"

namespace tunesmith::network {

enum class NodeKind : uint8_t {
  View,         // moves elements of one tensor and computes nothing, or makes wider ones of narrow integers
  Elementwise,  // no reduction
  Gather,       // the same, and reads elements at positions that are data
  Reduction,    // reads each element a few times, such as softmax
  Contraction,  // reads elements again and again: products, convolutions
  Loop,         // a body that runs again and again
  InPlace       // its elements lie already where it would move them
};

struct NodeFacts {
  NodeKind kind = NodeKind::Elementwise;
  int64_t elements = 0;        // of its largest output
  int64_t input_elements = 0;  // of its largest input that is no constant
  size_t statements = 0;       // of its definition
  size_t varying_inputs = 0;   // inputs that are no constants
  bool computes = false;       // arithmetic on elements, not only which of them is read
  bool has_windows = false;    // a contraction that reads neighbours, such as a convolution of 3 x 3
  bool rounds = false;         // right programs may differ in what it computes
  bool chooses = false;        // by comparing elements with each other, such as the place of the largest
  bool adds_numbers = false;   // a view that puts other values beside those it moves, zeros excepted
};

/// One for each node.
std::vector<NodeFacts> node_facts(const Network& network);

}  // namespace tunesmith::network
