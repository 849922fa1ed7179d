// The operators of ONNX, as statements of the workload language.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tunesmith/network/operator.h"

namespace tunesmith::operators_onnx {

/// The newest version of ONNX's operator set whose operators are known.
inline constexpr int64_t kNewestVersion = 28;

/// The operator `op` of ONNX's own domain ("Conv") in this version of the operator set; null if there is no
/// such operator, or no definition yet. The result lives as long as the process. Thread-safe.
const network::Operator* find_operator(std::string_view op, int64_t version);

/// The names of all that find_operator knows in some version, sorted.
std::vector<std::string> known_operators();

}  // namespace tunesmith::operators_onnx
