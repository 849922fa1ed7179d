// Made-up workloads, as the text of a file.
#pragma once

#include <string>

#include <tunesmith/support/random.h>

namespace tunesmith::fuzz {

/// What values a workload computes with.
enum class Numbers {
  /// f64 throughout, over the reals: another order of a sum changes the last digits.
  Reals,
  /// Every element type. Floating arrays hold whole numbers that are small enough for every step to be exact
  /// in its type, whatever the order; integers wrap around, which no order changes either.
  Exact
};

/// A few stages that read each other and the inputs, shifted, strided, transposed, reversed, padded and
/// masked, elementwise and reduced.
std::string random_definition(RandomStream& random, Numbers numbers);

}  // namespace tunesmith::fuzz
