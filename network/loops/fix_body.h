// The types of what a loop computes.
#pragma once

#include <optional>
#include <string>

#include "tunesmith/network/pass.h"

namespace tunesmith::network {

/// More trips than these are a loop.
inline constexpr int64_t kMaxTripsInLine = 8;

/// Fixes the shapes of the body of a node that is_repetition, whose inputs are known. Otherwise why its trips
/// must be nodes one after the other.
std::optional<std::string> fix_body(const Network& network, Node& node, const PassOptions& options);

}  // namespace tunesmith::network
