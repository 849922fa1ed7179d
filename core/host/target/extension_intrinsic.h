// Reads one intrinsic of an extension's file.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "tunesmith/intrinsics/tensor_intrinsic.h"
#include "tunesmith/support/yaml.h"

namespace tunesmith::extension {

/// Properties that the file gives to all its intrinsics.
struct Common {
  std::string target;
  std::string level;
  YamlNode operands;  // a mapping, or null
  UnitSetup setup;
  std::map<std::string, int64_t> peaks;  // TensorIntrinsic::peak_sums by name
};

/// Throws UserError.
TensorIntrinsicPtr read_intrinsic(const YamlNode& node, const Common& common);

}  // namespace tunesmith::extension
