// Nodes of the operator Constant, which contain values.
#pragma once

#include <memory>

#include <tunesmith/network/network.h>

#include "external_files.h"

namespace onnx {
class AttributeProto;
}  // namespace onnx

namespace tunesmith::onnx_reader {

/// The value of attribute `name` of a Constant, stored in
/// `attribute`. Throws UserError for an unsupported attribute.
std::shared_ptr<const network::Constant> constant_of_node(const std::string& name,
                                                          const onnx::AttributeProto& attribute,
                                                          const std::shared_ptr<const void>& owner,
                                                          ExternalFiles& files);

}  // namespace tunesmith::onnx_reader
