// Names that are never given twice.
#pragma once

#include <string>

#pragma GCC visibility push(default)
namespace tunesmith {

/// 16 hexadecimal digits that no other call on any machine gives, as far as 64 random bits keep apart. Names
/// runs, measurements and files in the making; no result depends on it.
std::string make_id();

}  // namespace tunesmith
#pragma GCC visibility pop
