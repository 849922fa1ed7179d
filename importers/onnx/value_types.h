// The types and shapes that a model declares for its tensors.
#pragma once

#include <string>

#include <tunesmith/network/network.h>

namespace onnx {
class TypeProto;
}  // namespace onnx

namespace tunesmith::onnx_reader {

/// What is wrong with a type that is not a dense tensor's.
std::string no_tensor(const onnx::TypeProto& type);

/// Sets what the type says. Where it leaves an extent open, `name_extents` gives it a name, after the tensor
/// and the axis; else the shape stays unknown. Throws UserError for what is no tensor, and for an element
/// type that networks do not have.
void set_type(network::Tensor& tensor, const onnx::TypeProto& type, bool name_extents);

}  // namespace tunesmith::onnx_reader
