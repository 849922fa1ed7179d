// What a network computes, slowly, and in higher precision if asked: what everything faster is compared with.
#pragma once

#include <span>
#include <vector>

#include "tunesmith/network/network.h"
#include "tunesmith/verification/tensor.h"

#pragma GCC visibility push(default)
namespace tunesmith::network {

/// A copy of the values.
tunesmith::Tensor to_tensor(const Constant& constant);

/// What floats are computed in.
enum class Precision {
  F64,  ///< f64 whatever their type, and rounded only where a node converts to a narrower type; they return
        ///< as f64
  AsTyped,  ///< their own types, rounded after each operation
};

/// The values of the network's outputs for these of its inputs, in their order. Integers and bools are exact.
/// The nodes' definitions must be there (resolve). Interpreted: about 4 million multiplications a second,
/// so that networks of up to some 10^8 are practical. Throws UserError for inputs that do not fit and for
/// nodes that are refused. Thread-safe.
std::vector<tunesmith::Tensor> evaluate(const Network& network, std::span<const tunesmith::Tensor> inputs,
                                        Precision precision = Precision::F64);

}  // namespace tunesmith::network
#pragma GCC visibility pop
