// Tensors that represent numbers by integers, a scale and a zero point.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "tunesmith/network/network.h"

namespace tunesmith::network {

/// The values (values - zero) * scale of bytes.
struct Dequantized {
  size_t node = 0;                  ///< the node DequantizeLinear
  TensorIndex values = kAbsent;     ///< u8 or i8, or integers of fewer bits in these
  std::vector<double> scale;        ///< a single value, or one for each index of the axis
  std::vector<int64_t> zero;        ///< likewise
  std::optional<size_t> axis = {};  ///< absent if scale and zero point are single values
};

/// For each tensor the node that computes it; the number of nodes if none does.
std::vector<size_t> makers_of(const Network& network);

/// The quantized form of the tensor; nothing if no DequantizeLinear computes it, or its scale or zero point
/// is unknown, blocked, or not f32.
std::optional<Dequantized> dequantized(const Network& network, const std::vector<size_t>& makers,
                                       TensorIndex tensor);

/// The same for a QuantizeLinear, with its result as `values`. Nothing for other nodes.
std::optional<Dequantized> quantized(const Network& network, size_t node);

std::vector<double> numbers_of(const Constant& constant);

/// Adds a tensor; its name begins with `name`.
TensorIndex add_tensor(Network& network, const std::string& name, DType dtype, const Shape& shape,
                       Code code = Code::None);
TensorIndex add_constant(Network& network, const std::string& name, DType dtype, const Shape& shape,
                         const std::vector<double>& values);

}  // namespace tunesmith::network
