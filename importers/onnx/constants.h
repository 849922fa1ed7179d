// The values of a model's tensors.
#pragma once

#include <memory>

#include <tunesmith/network/network.h>

#include "external_files.h"

namespace onnx {
class TensorProto;
}  // namespace onnx

namespace tunesmith::onnx_reader {

/// Its bytes stay in the message, or in the file that it names, where they lie there as the network has them.
/// Values of fewer than 8 bits have a byte each.
/// `owner` keeps the message. Throws UserError, which says what is wrong but not with which tensor.
std::shared_ptr<const network::Constant> read_constant(const onnx::TensorProto& tensor,
                                                       const std::shared_ptr<const void>& owner,
                                                       ExternalFiles& files);

}  // namespace tunesmith::onnx_reader
