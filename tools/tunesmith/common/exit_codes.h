#pragma once

namespace tunesmith::cli {

inline constexpr int kDone = 0;
inline constexpr int kWrong = 1;  // a result is not what it must be
inline constexpr int kBadInput = 2;
inline constexpr int kNothingFound = 3;
inline constexpr int kRefused = 3;  // a network has what is not taken
inline constexpr int kEnvironmentFault = 4;
inline constexpr int kInterrupted = 130;  // as a shell says of a command ended by Ctrl-C

}  // namespace tunesmith::cli
