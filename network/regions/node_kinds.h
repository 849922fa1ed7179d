// Classifies nodes by their programs.
#pragma once

#include <cstdint>
#include <vector>

#include "tunesmith/network/network.h"

namespace tunesmith::network {

enum class NodeKind : uint8_t {
  View,         // moves elements of one tensor without computing, or widens narrow integers
  Elementwise,  // no reduction
  Gather,       // element-wise, and reads elements at positions that are data
  Reduction,    // reads each element a few times, such as softmax
  Contraction,  // reads elements again and again: products, convolutions
  Loop,         // a body that runs repeatedly
  InPlace       // its elements are already where it would move them
};

struct NodeFacts {
  NodeKind kind = NodeKind::Elementwise;
  int64_t elements = 0;        // of its largest output
  int64_t input_elements = 0;  // of its largest input that is not constant
  size_t statements = 0;       // of its definition
  size_t varying_inputs = 0;   // number of inputs that are not constant
  bool computes = false;       // has arithmetic on elements, not only on their indices
  bool has_windows = false;    // a contraction over neighbours, such as a 3 x 3 convolution
  bool rounds = false;         // right programs may differ in its results
  bool chooses = false;        // compares elements with each other, such as ArgMax
  bool adds_numbers = false;   // a view that adds values other than zeros to those it moves
};

/// One for each node.
std::vector<NodeFacts> node_facts(const Network& network);

}  // namespace tunesmith::network
