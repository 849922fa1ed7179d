// Tensors in the form that built libraries take.
#pragma once

#include <cstdint>

#include "tunesmith/runtime/c_texts.h"
#include "tunesmith/verification/tensor.h"

namespace tunesmith::testing {

/// DLPack's type.
struct DLTensor {
  void* data;
  struct {
    int32_t type, id;
  } device;
  int32_t rank;
  struct {
    uint8_t code, bits;
    uint16_t lanes;
  } dtype;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
};

/// Refers to the tensor's memory.
inline DLTensor dl_tensor(Tensor& tensor) {
  const DType type = tensor.dtype;
  const auto bits = static_cast<uint8_t>(8 * type.bytes());
  return {tensor.bytes.data(),
          {1, 0},
          static_cast<int32_t>(tensor.shape.size()),
          {static_cast<uint8_t>(dlpack_code(type)), bits, 1},
          tensor.shape.data(),
          nullptr,
          0};
}

}  // namespace tunesmith::testing
