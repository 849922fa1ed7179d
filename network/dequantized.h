// Tensors that stand for numbers by integers, a scale and a zero point.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "tunesmith/network/network.h"

namespace tunesmith::network {

/// (values - zero) * scale, of bytes.
struct Dequantized {
  size_t node = 0;                  ///< the DequantizeLinear
  TensorIndex values = kAbsent;     ///< u8 or i8
  std::vector<double> scale;        ///< one, or one for each index of the axis
  std::vector<int64_t> zero;        ///< the same
  std::optional<size_t> axis = {};  ///< absent where both are one number
};

/// Of each tensor the node that computes it; the number of nodes where none does.
std::vector<size_t> makers_of(const Network& network);

/// How the tensor follows from bytes; nothing where it is computed otherwise, or its scale or zero point is
/// not known, has blocks, or is of another type than f32.
std::optional<Dequantized> dequantized(const Network& network, const std::vector<size_t>& makers,
                                       TensorIndex tensor);

/// The same for what a QuantizeLinear makes: `values` is its result. Nothing for any other node.
std::optional<Dequantized> quantized(const Network& network, size_t node);

std::vector<double> numbers_of(const Constant& constant);

/// Adds a tensor whose name begins so.
TensorIndex add_tensor(Network& network, const std::string& name, DType dtype, const Shape& shape);
TensorIndex add_constant(Network& network, const std::string& name, DType dtype, const Shape& shape,
                         const std::vector<double>& values);

}  // namespace tunesmith::network
