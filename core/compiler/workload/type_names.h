// Names of data types in other languages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tunesmith {

/// suggest(), or the name in this language if `name` is a data type of C, NumPy or PyTorch.
std::string suggest_type(std::string_view name, const std::vector<std::string>& known);

}  // namespace tunesmith
