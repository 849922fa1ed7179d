// Nodes of the operator Constant, which hold values.
#pragma once

#include <memory>

#include <tunesmith/network/network.h>

#include "external_files.h"

namespace onnx {
class AttributeProto;
}  // namespace onnx

namespace tunesmith::onnx_reader {

/// What the attribute `name` of a Constant says, whose value stands in `attribute`. Throws UserError for an
/// attribute that it does not take.
std::shared_ptr<const network::Constant> constant_of_node(const std::string& name,
                                                          const onnx::AttributeProto& attribute,
                                                          const std::shared_ptr<const void>& owner,
                                                          ExternalFiles& files);

}  // namespace tunesmith::onnx_reader
