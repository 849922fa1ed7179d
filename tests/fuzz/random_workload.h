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
  /// How to make it again: "gmm:n=3,m=8,k=5,dtype=f64", or the text of a file.
  std::string text;
  Workload workload;
  Numbers numbers = Numbers::Reals;
};

/// A built-in workload with small random parameters, or one that is made up; half of them over the reals in
/// f64, half exact in every element type.
RandomWorkload random_workload(RandomStream& random);

/// The program's inputs filled, its outputs zero. Exact numbers: integers from the whole range of their type,
/// its ends often among them; floats small whole numbers.
std::vector<Tensor> random_arguments(const Program& program, Numbers numbers);

/// A number that the environment gives for a longer run, or another one.
uint64_t from_environment(const char* name, uint64_t otherwise);

}  // namespace tunesmith::fuzz
