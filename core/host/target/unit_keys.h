// Reads the properties of an extension's unit from its file.
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

/// Checks that the intrinsics named in `node`, the value of `peak`,
/// belong to the extension and can be measured. Throws UserError.
void check_unit_peaks(const YamlNode& node, const std::vector<TensorIntrinsicPtr>& intrinsics);

}  // namespace tunesmith
