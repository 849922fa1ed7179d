// Pieces of RNN, GRU and LSTM.
//
// A node becomes one product of all steps' inputs with the gates' weights, and a loop of its steps. The
// loop's body is a node of the same operator and attributes with kStep. Its inputs have the numbers of the
// whole node's, except that the first two are each direction's part of the product in that step.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "registry.h"

namespace tunesmith::operators_onnx {

inline constexpr const char* kStep = "tunesmith.step";
inline constexpr const char* kResetsLate = "linear_before_reset";
inline constexpr size_t kRecurrentWeights = 2, kBias = 3, kLengths = 4, kFirstState = 5, kPeepholes = 7;
inline constexpr size_t kStepNumbers = 8;  ///< the first of an input for each direction

/// Applies the activation to x, which is in brackets or an element.
using Activation = std::function<std::string(const std::string&)>;

/// The activations of all directions, which consume the attributes' numbers in order.
std::vector<Activation> read_activations(const NodeReader& node, size_t directions,
                                         const std::vector<std::string>& otherwise);

/// `gates`: rows of the weights for each hidden element. `states`: the number of a step's states.
Expand in_steps(int64_t gates, size_t states);

}  // namespace tunesmith::operators_onnx
