// Compares a target's texts of two programs up to substituted extents.
#pragma once

#include <string_view>

#include "twins/extent_substitution.h"

namespace tunesmith {

/// Are the sources equal except for numbers that `extents` substitutes? Numbers of a `#pragma`, which is a
/// hint and changes no result, may differ arbitrarily.
bool texts_correspond(std::string_view full, std::string_view smaller, const ExtentSubstitution& extents);

}  // namespace tunesmith
