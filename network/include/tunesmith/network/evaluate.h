// Interprets a network, optionally in higher precision: the reference for all faster implementations.
#pragma once

#include <span>
#include <vector>

#include "tunesmith/network/network.h"
#include "tunesmith/verification/tensor.h"

#pragma GCC visibility push(default)
namespace tunesmith::network {

/// A copy of the values.
tunesmith::Tensor to_tensor(const Constant& constant);

/// The precision of floating-point operations.
enum class Precision {
  F64,  ///< in f64 whatever the type, rounded only where a node converts to a narrower type; results are f64
  AsTyped,  ///< in the types of the network, rounded after each operation
};

/// The values of the network's outputs for these inputs, in the network's order. Integers and bools are
/// exact. The nodes' definitions must be resolved (resolve). Interprets about 4 million multiplications a
/// second, so networks of up to some 10^8 are practical. Throws UserError for inputs of the wrong type and
/// for refused nodes. Thread-safe.
std::vector<tunesmith::Tensor> evaluate(const Network& network, std::span<const tunesmith::Tensor> inputs,
                                        Precision precision = Precision::F64);

}  // namespace tunesmith::network
#pragma GCC visibility pop
