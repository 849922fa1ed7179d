// Pieces of RNN, GRU and LSTM.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "registry.h"

namespace tunesmith::operators_onnx {

/// Steps of which a node has the statements.
inline constexpr int64_t kMaxSteps = 8;

/// Of x, a value that stands in brackets or is an element.
using Activation = std::function<std::string(const std::string&)>;

/// The activations of all directions, which take their numbers one after the other.
std::vector<Activation> read_activations(const NodeReader& node, size_t directions,
                                         const std::vector<std::string>& otherwise);
/// How many of attribute 'activation_alpha', or of '..._beta', these take.
size_t numbers_taken(const std::vector<std::string>& activations, bool beta);

/// Longer sequences are nodes of so many steps, one after the other.
/// `states`: what a step leaves.
Expand in_steps_of_nodes(size_t states);

}  // namespace tunesmith::operators_onnx
