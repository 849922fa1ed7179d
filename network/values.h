// Values of tensors, and of nodes' outputs.
#pragma once

#include <map>
#include <memory>

#include "joined.h"
#include "tunesmith/network/evaluate.h"
#include "tunesmith/verification/tensor.h"

namespace tunesmith::network {

std::shared_ptr<const Constant> to_constant(tunesmith::Tensor tensor);
/// A row of the first axis.
tunesmith::Tensor row_of(const tunesmith::Tensor& whole, int64_t row);
void set_row(tunesmith::Tensor& whole, int64_t row, const tunesmith::Tensor& value);
/// The first elements along the axis.
tunesmith::Tensor first_of(const tunesmith::Tensor& whole, size_t axis, int64_t count);
/// An array of zeros with this number of rows.
tunesmith::Tensor rows_like(const tunesmith::Tensor& row, int64_t rows);
/// Floats in f64, others unchanged.
tunesmith::Tensor widened(const tunesmith::Tensor& tensor);

/// The values of a node's outputs, interpreted in the types of `defined`; nothing for omitted outputs.
/// `value_of`: gives the tensors that the node reads.
std::vector<std::optional<tunesmith::Tensor>> compute(
    const DefinedNode& defined, const std::function<const tunesmith::Tensor&(TensorIndex)>& value_of);

/// Makes a node's outputs constant; all inputs must be constant.
void fold(Network& network, const DefinedNode& defined);

}  // namespace tunesmith::network
