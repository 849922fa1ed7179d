// Do a target's texts of two programs differ only in extents?
#pragma once

#include <string_view>

#include "twins/extent_substitution.h"

namespace tunesmith {

/// Are the sources equal but for numbers that `extents` make others? A `#pragma` is a hint that changes no
/// result: its numbers may be any.
bool texts_correspond(std::string_view full, std::string_view smaller, const ExtentSubstitution& extents);

}  // namespace tunesmith
