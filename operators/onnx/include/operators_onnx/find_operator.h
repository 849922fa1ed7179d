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

/// `op` as ONNX's own domain names it ("Conv"), as the operator set of this version defines it. Null where
/// there is no such operator, or no definition of it yet. What is returned lives as long as the process.
/// Thread-safe.
const network::Operator* find_operator(std::string_view op, int64_t version);

/// The names of all that find_operator knows in some version, sorted.
std::vector<std::string> known_operators();

}  // namespace tunesmith::operators_onnx
