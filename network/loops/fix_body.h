// Types and shapes of loop bodies.
#pragma once

#include <optional>
#include <string>

#include "tunesmith/network/pass.h"

namespace tunesmith::network {

/// Loops with at most this many trips are unrolled.
inline constexpr int64_t kMaxTripsInLine = 8;

/// Infers the shapes of the body of a node that is_repetition, whose inputs are known. Returns why the loop
/// must be unrolled, or nothing.
std::optional<std::string> fix_body(const Network& network, Node& node, const PassOptions& options);

}  // namespace tunesmith::network
