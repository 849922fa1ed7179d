// The version of Tunesmith.
#pragma once

#include <string_view>

#pragma GCC visibility push(default)
namespace tunesmith {

/// The version of the loaded kernel, as "0.2.0".
std::string_view kernel_version();

/// The compiler and version that built the kernel, as "GCC 12.2.0".
std::string_view kernel_compiler();

}  // namespace tunesmith
#pragma GCC visibility pop
