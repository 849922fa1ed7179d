// Small random workloads.
#pragma once

#include <string>

#include <tunesmith/support/random.h>
#include <tunesmith/workload/workload.h>

namespace tunesmith::fuzz {

struct RandomWorkload {
  /// How to make it again: "gmm:n=3,m=8,k=5,dtype=f64", or the text of a file.
  std::string text;
  Workload workload;
};

/// A built-in workload with small random parameters, or one that is made up: a few stages that read each
/// other and the inputs, shifted, strided, transposed, reversed and padded, elementwise and reduced.
RandomWorkload random_workload(RandomStream& random);

/// A number that the environment gives for a longer run, or another one.
uint64_t from_environment(const char* name, uint64_t otherwise);

}  // namespace tunesmith::fuzz
