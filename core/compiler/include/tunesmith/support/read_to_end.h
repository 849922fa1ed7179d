#pragma once

#include <string>

#pragma GCC visibility push(default)
namespace tunesmith {

/// Reads a file descriptor until its end or an error.
std::string read_to_end(int descriptor);

}  // namespace tunesmith
#pragma GCC visibility pop
