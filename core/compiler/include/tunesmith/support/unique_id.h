// Unique ids.
#pragma once

#include <string>

#pragma GCC visibility push(default)
namespace tunesmith {

/// 16 hexadecimal digits from 64 random bits, unique over all machines.
/// Names runs, measurements and temporary files; no result depends on it.
std::string make_id();

}  // namespace tunesmith
#pragma GCC visibility pop
