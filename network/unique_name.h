// Names for what a pass adds.
#pragma once

#include <string>

#include "tunesmith/network/network.h"

namespace tunesmith::network {

/// The wanted name, or with a number where a tensor or node has it.
std::string unique_name(const Network& network, const std::string& wanted);

}  // namespace tunesmith::network
