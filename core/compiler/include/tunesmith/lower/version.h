// The version of lowering, which is part of a task's identity.
#pragma once

#pragma GCC visibility push(default)
namespace tunesmith {

/// Raise it when a complete trace gives a different lowered program, or lowered_hash() of a program changes;
/// tests/golden then fails.
inline constexpr int kLoweringVersion = 1;

}  // namespace tunesmith
#pragma GCC visibility pop
