// Checks a candidate's outputs against the reference's bounds.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tunesmith/ir/buffer.h"
#include "tunesmith/runtime/pool.h"
#include "tunesmith/verification/tensor.h"

namespace tunesmith {

struct OutputDifference {
  double worst = 0.0;   // the largest error divided by its bound; infinite for an unexpected NaN
  std::string message;  // where, and by how much, if worst > 1
};

/// One output of the reference on one data set, in a form for quick comparison. A value.
class ExpectedOutput {
 public:
  /// `value`: floats as f64, else the buffer's type.
  /// `bound`: f64, or null if all bits must be equal.
  ExpectedOutput(Buffer buffer, const Tensor& value, const Tensor* bound);
  /// From bytes().
  ExpectedOutput(Buffer buffer, const std::string& bytes);

  /// The data from which another process can compare.
  std::string bytes() const;
  /// May these be bytes() of such an output?
  static bool fits(const BufferNode& buffer, const std::string& bytes);
  /// The maximum number of bytes.
  static uint64_t max_bytes(const BufferNode& buffer);

  /// `values`: the candidate's, in the buffer's type and strides. Runs on the threads of `pool`, or
  /// on this thread if it is null. Elements that are infinite or NaN in the reference must be so.
  OutputDifference compare(const void* values, tunesmith_runtime_pool* pool = nullptr) const;

 private:
  /// For contiguous values.
  OutputDifference compare_elements(const void* values, tunesmith_runtime_pool* pool) const;
  OutputDifference find_worst(const void* values) const;
  double wanted(int64_t position) const;
  double tolerance(int64_t position) const;

  Buffer buffer_;
  // Up to 32 bits, float holds any element and bound; for f64 and integers
  // both are f64. Integers that must be equal are in exact_ instead.
  std::vector<float> narrow_, narrow_inverse_;  // the value, and 1 / bound
  std::vector<double> wide_, wide_bound_;
  std::string exact_;
};

/// The typical bound divided by the typical element (root mean squares over an
/// output's finite elements): the size of a mistake that could pass for rounding.
/// Infinite if a finite element has no finite bound. 0 if `bound` is null.
double looseness(const Tensor& value, const Tensor* bound);

/// False if an element of a floating output is infinite or NaN.
bool all_finite(const Tensor& value);

}  // namespace tunesmith
