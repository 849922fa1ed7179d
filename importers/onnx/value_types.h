// What a model says of the types and shapes of its tensors.
#pragma once

#include <tunesmith/network/network.h>

namespace onnx {
class TypeProto;
}  // namespace onnx

namespace tunesmith::onnx_reader {

/// Sets what the type says. Where it leaves an extent open, `name_extents` gives it a name, after the tensor
/// and the axis; else the shape stays unknown. Throws UserError for what is no tensor, and for an element
/// type that networks do not have.
void set_type(network::Tensor& tensor, const onnx::TypeProto& type, bool name_extents);

}  // namespace tunesmith::onnx_reader
