// Invents workloads, as the text of a file.
#pragma once

#include <string>

#include <tunesmith/support/random.h>

namespace tunesmith::fuzz {

/// The values that a workload computes with.
enum class Numbers {
  /// Real numbers in f64: another order of a sum changes the last digits.
  Reals,
  /// Every element type. Floating arrays contain integers so small that every step is exact in any order;
  /// integer types wrap around, which no order changes either.
  Exact
};

/// A few stages that read each other and the inputs, shifted, strided, transposed, reversed, padded and
/// masked, elementwise and reduced.
std::string random_definition(RandomStream& random, Numbers numbers);

}  // namespace tunesmith::fuzz
