// Names for additions by passes.
#pragma once

#include <string>

#include "tunesmith/network/network.h"

namespace tunesmith::network {

/// `wanted`, with a number if a tensor or node has that name.
std::string unique_name(const Network& network, const std::string& wanted);

}  // namespace tunesmith::network
