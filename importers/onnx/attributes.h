// The attributes of a model's nodes.
#pragma once

#include <memory>

#include <tunesmith/network/network.h>

#include "external_files.h"

namespace onnx {
class AttributeProto;
}  // namespace onnx

namespace tunesmith::onnx_reader {

/// Throws UserError with the problem, without the attribute's name.
network::Attribute read_attribute(const onnx::AttributeProto& attribute,
                                  const std::shared_ptr<const void>& owner, ExternalFiles& files);

}  // namespace tunesmith::onnx_reader
