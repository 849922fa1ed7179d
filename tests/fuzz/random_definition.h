// Workload definitions that nobody wrote.
#pragma once

#include <string>

#include <tunesmith/support/random.h>

namespace tunesmith::fuzz {

/// The text of a workload file: legal by construction.
std::string random_definition(RandomStream& random);

}  // namespace tunesmith::fuzz
