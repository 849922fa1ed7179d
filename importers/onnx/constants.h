// The values of a model's tensors.
#pragma once

#include <memory>

#include <tunesmith/network/network.h>

#include "external_files.h"

namespace onnx {
class TensorProto;
}  // namespace onnx

namespace tunesmith::onnx_reader {

/// The bytes stay in the message, or in the file that it names, if their layout is the network's. Values of
/// fewer than 8 bits get a byte each. `owner` keeps the message alive. Throws UserError, which describes the
/// fault without naming the tensor.
std::shared_ptr<const network::Constant> read_constant(const onnx::TensorProto& tensor,
                                                       const std::shared_ptr<const void>& owner,
                                                       ExternalFiles& files);

}  // namespace tunesmith::onnx_reader
