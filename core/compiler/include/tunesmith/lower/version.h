// The version of lowering, which tasks and their records name.
#pragma once

#pragma GCC visibility push(default)
namespace tunesmith {

/// Raise it when a complete trace gives another lowered program than before, or lowered_hash() of a program
/// changes. tests/golden fails then and says so.
inline constexpr int kLoweringVersion = 1;

}  // namespace tunesmith
#pragma GCC visibility pop
