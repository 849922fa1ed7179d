// Which Tunesmith this is.
#pragma once

#include <string_view>

#pragma GCC visibility push(default)
namespace tunesmith {

/// Of the kernel that is loaded, as "0.2.0".
std::string_view kernel_version();

/// The compiler and version that built the kernel, as "GCC 12.2.0".
std::string_view kernel_compiler();

}  // namespace tunesmith
#pragma GCC visibility pop
