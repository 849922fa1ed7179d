// Small random workloads.
#pragma once

#include <string>

#include <tunesmith/support/random.h>

namespace tunesmith::fuzz {

/// The text of a built-in workload with small random parameters ("gmm:n=3,m=8,k=5,dtype=f64").
std::string random_workload(RandomStream& random);

}  // namespace tunesmith::fuzz
