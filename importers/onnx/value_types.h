// The types and shapes that a model declares for its tensors.
#pragma once

#include <string>

#include <tunesmith/network/network.h>

namespace onnx {
class TypeProto;
}  // namespace onnx

namespace tunesmith::onnx_reader {

/// Describes why a type is not that of a dense tensor.
std::string no_tensor(const onnx::TypeProto& type);

/// Sets the tensor's type and shape. If the type leaves an extent open, `name_extents` names it after the
/// tensor and the axis; otherwise the shape stays unknown. Throws UserError for a type that is not a
/// tensor's, and for an element type that networks lack.
void set_type(network::Tensor& tensor, const onnx::TypeProto& type, bool name_extents);

}  // namespace tunesmith::onnx_reader
