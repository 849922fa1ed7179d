// A tensor in host memory, for the interpreter and for comparing results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "tunesmith/ir/buffer.h"

namespace tunesmith {

/// A value. Elements are row-major and contiguous in `bytes`; f16 and bf16 as their bits, bool as one byte.
struct Tensor {
  DType dtype = kF32;
  std::vector<int64_t> shape;
  std::vector<std::byte> bytes;

  static Tensor zeros(DType dtype, std::vector<int64_t> shape);
  /// Zeros of the buffer's type and shape.
  static Tensor like(const BufferNode& buffer);

  int64_t elements() const;
  /// The element at a row-major position. f64 holds the values of all types except large i64.
  double get(int64_t position) const;
  /// Rounds to the nearest value of the type (integers: towards zero, saturating).
  void set(int64_t position, double value);
  /// For integers and bools, without loss.
  int64_t get_int(int64_t position) const;
  void set_int(int64_t position, int64_t value);

  /// Floats uniform in [-1, 1), i8 and u8 over their range, wider integers in [-1000,
  /// 1000], bools with equal probability. The same on every machine; elements are
  /// unrelated to their transposed or shifted neighbours, so wrong indexing shows.
  void fill_random(uint64_t seed);

  bool operator==(const Tensor&) const = default;
};

/// Contiguous elements in a buffer's memory; the
/// first is at the row-major position `element`.
struct ElementRun {
  int64_t element = 0;
  int64_t begin = 0;  ///< in elements from the buffer's beginning
  int64_t count = 0;
};
/// A buffer without gaps is one run. Strides must descend, like those of arguments.
void visit_runs(const BufferNode& buffer, const std::function<void(const ElementRun&)>& visit);

/// Writes to a buffer of the tensor's type and shape; gaps between elements stay unchanged.
void store_in(const BufferNode& buffer, const Tensor& tensor, std::byte* memory);
Tensor load_from(const BufferNode& buffer, const std::byte* memory);

/// The largest absolute difference of corresponding elements. NaNs agree, as do equal
/// infinities; a NaN and a number, and tensors of different shape or type, differ by infinity.
double max_error(const Tensor& a, const Tensor& b);

}  // namespace tunesmith
