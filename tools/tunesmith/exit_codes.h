#pragma once

namespace tunesmith::cli {

inline constexpr int kDone = 0;
inline constexpr int kBadInput = 2;
inline constexpr int kNothingFound = 3;
inline constexpr int kEnvironmentFault = 4;

}  // namespace tunesmith::cli
