#pragma once

#include <string>

#pragma GCC visibility push(default)
namespace tunesmith {

/// What comes from a file descriptor until its end, or until it cannot be read.
std::string read_to_end(int descriptor);

}  // namespace tunesmith
#pragma GCC visibility pop
