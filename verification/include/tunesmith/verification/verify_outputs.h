// Is what a candidate computed within the bound of the reference?
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tunesmith/ir/buffer.h"
#include "tunesmith/runtime/pool.h"
#include "tunesmith/verification/tensor.h"

namespace tunesmith {

struct OutputDifference {
  double worst = 0.0;   // the largest error over its bound; infinite for a NaN that should be none
  std::string message;  // where and how far, when worst > 1
};

/// One output of the reference on one data set, in a form that is compared quickly. A value.
class ExpectedOutput {
 public:
  /// `value`: floats in f64, else of the buffer's type. `bound`: f64, or null where every bit must be the
  /// same.
  ExpectedOutput(Buffer buffer, const Tensor& value, const Tensor* bound);
  /// From bytes().
  ExpectedOutput(Buffer buffer, const std::string& bytes);

  /// What another process needs to compare the same.
  std::string bytes() const;
  /// Can they be the bytes() of such an output?
  static bool fits(const BufferNode& buffer, const std::string& bytes);
  /// How many they are at most.
  static uint64_t max_bytes(const BufferNode& buffer);

  /// `values` are the candidate's, in the buffer's type and with its strides. On the threads of `pool`, or
  /// without if it is null. What is infinite or NaN in the reference must be so.
  OutputDifference compare(const void* values, tunesmith_runtime_pool* pool = nullptr) const;

 private:
  /// Of values without gaps.
  OutputDifference compare_elements(const void* values, tunesmith_runtime_pool* pool) const;
  OutputDifference find_worst(const void* values) const;
  double wanted(int64_t position) const;
  double tolerance(int64_t position) const;

  Buffer buffer_;
  // Up to 32 bits a float holds any element and any bound; of f64 and integers both are f64. Integers that
  // must be met to the bit stand in exact_ instead.
  std::vector<float> narrow_, narrow_inverse_;  // the value, and one over its bound
  std::vector<double> wide_, wide_bound_;
  std::string exact_;
};

/// The bound of a typical element over the size of one (root mean squares over an output), of what is finite:
/// how much of a mistake would be taken for rounding. Infinite when a finite element has no finite bound.
/// `bound` null gives 0.
double looseness(const Tensor& value, const Tensor* bound);

/// False when an element of a floating output is infinite or NaN.
bool all_finite(const Tensor& value);

}  // namespace tunesmith
