// What the file of an extension says of its unit as a whole.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tunesmith/intrinsics/tensor_intrinsic.h"
#include "tunesmith/support/yaml.h"

namespace tunesmith {

/// The value of the key `setup` of the extension of this name. Throws UserError.
UnitSetup read_unit_setup(const YamlNode& node, const std::string& extension);

/// The value of the key `peak`: TensorIntrinsic::peak_sums by the intrinsic's name. Throws UserError.
std::map<std::string, int64_t> read_unit_peaks(const YamlNode& node);

/// Are those that `node`, the value of `peak`, names among the extension's, and can they be measured? Throws
/// UserError.
void check_unit_peaks(const YamlNode& node, const std::vector<TensorIntrinsicPtr>& intrinsics);

}  // namespace tunesmith
