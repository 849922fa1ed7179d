// A tensor in the host's memory: what the interpreter runs on and what measured results are compared with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "tunesmith/ir/buffer.h"

namespace tunesmith {

/// A value. Elements lie row-major without gaps in `bytes`; f16 and bf16 as their bits, bool as one byte.
struct Tensor {
  DType dtype = kF32;
  std::vector<int64_t> shape;
  std::vector<std::byte> bytes;

  static Tensor zeros(DType dtype, std::vector<int64_t> shape);
  /// Zeros of the buffer's type and shape.
  static Tensor like(const BufferNode& buffer);

  int64_t elements() const;
  /// The element at a row-major position. f64 holds every type's values but large i64.
  double get(int64_t position) const;
  /// Rounds to the nearest value of the type (integers: towards zero, saturating).
  void set(int64_t position, double value);
  /// Integers and bools without loss.
  int64_t get_int(int64_t position) const;
  void set_int(int64_t position, int64_t value);

  /// Floats uniform in [-1, 1), i8 and u8 over their range, wider integers in [-1000, 1000], bools even. The
  /// same on every machine; no element is related to its transposed or shifted neighbour, so wrong indexing
  /// shows.
  void fill_random(uint64_t seed);

  bool operator==(const Tensor&) const = default;
};

/// Elements that lie together in a buffer's memory, of which the first is at the row-major position
/// `element`.
struct ElementRun {
  int64_t element = 0;
  int64_t begin = 0;  ///< in elements from the buffer's beginning
  int64_t count = 0;
};
/// All of a buffer without gaps is one run. The strides descend, as those of arguments do.
void visit_runs(const BufferNode& buffer, const std::function<void(const ElementRun&)>& visit);

/// To a buffer of the tensor's type and shape: what lies between its elements stays as it is.
void store_in(const BufferNode& buffer, const Tensor& tensor, std::byte* memory);
Tensor load_from(const BufferNode& buffer, const std::byte* memory);

/// The largest absolute difference of two elements in the same place. Two NaNs agree, and so do equal
/// infinities; a NaN against a number, and tensors of unequal shape or type, differ by infinity.
double max_error(const Tensor& a, const Tensor& b);

}  // namespace tunesmith
