// Names that other languages have for data types.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tunesmith {

/// As suggest(), and where `name` is a data type of C, NumPy or PyTorch, that type as it is called
/// here.
std::string suggest_type(std::string_view name, const std::vector<std::string>& known);

}  // namespace tunesmith
