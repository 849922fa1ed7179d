// Small random workloads.
#pragma once

#include <string>
#include <vector>

#include <tunesmith/support/random.h>
#include <tunesmith/verification/tensor.h>
#include <tunesmith/workload/workload.h>

#include "random_definition.h"

namespace tunesmith::fuzz {

struct RandomWorkload {
  /// The text from which it can be made again: "gmm:n=3,m=8,k=5,dtype=f64", or that of a file.
  std::string text;
  Workload workload;
  Numbers numbers = Numbers::Reals;
};

/// A built-in workload with small random parameters, or an invented one. Half of them use reals in f64, half
/// exact numbers in every element type.
RandomWorkload random_workload(RandomStream& random);

/// Random inputs, and outputs of zeros. With exact numbers, integers come from the whole range of their type,
/// often from its ends; floats are small integers.
std::vector<Tensor> random_arguments(const Program& program, Numbers numbers);

/// The number in this environment variable, which makes longer runs; else `otherwise`.
uint64_t from_environment(const char* name, uint64_t otherwise);

}  // namespace tunesmith::fuzz
