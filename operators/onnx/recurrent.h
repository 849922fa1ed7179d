// Pieces of RNN, GRU and LSTM.
//
// A node becomes a product, of all that the input gives to the gates, and a loop of its steps. What its body
// does is a node of the same operator and attributes with kStep, whose inputs stand where those of the whole
// do, except that the first two are what the input gives to the gates in a step of each direction.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "registry.h"

namespace tunesmith::operators_onnx {

inline constexpr const char* kStep = "tunesmith.step";
inline constexpr const char* kResetsLate = "linear_before_reset";
inline constexpr size_t kRecurrentWeights = 2, kBias = 3, kLengths = 4, kFirstState = 5, kPeepholes = 7;
inline constexpr size_t kStepNumbers = 8;  ///< of each direction

/// Of x, a value that stands in brackets or is an element.
using Activation = std::function<std::string(const std::string&)>;

/// The activations of all directions, which take their numbers one after the other.
std::vector<Activation> read_activations(const NodeReader& node, size_t directions,
                                         const std::vector<std::string>& otherwise);

/// `gates`: rows of the weights for each hidden element. `states`: what a step leaves.
Expand in_steps(int64_t gates, size_t states);

}  // namespace tunesmith::operators_onnx
