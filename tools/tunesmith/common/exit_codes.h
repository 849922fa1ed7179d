#pragma once

namespace tunesmith::cli {

inline constexpr int kDone = 0;
inline constexpr int kWrong = 1;  // a result is wrong
inline constexpr int kBadInput = 2;
inline constexpr int kNothingFound = 3;
inline constexpr int kRefused = 3;  // a network contains something unsupported
inline constexpr int kEnvironmentFault = 4;
inline constexpr int kInterrupted = 130;  // the shell's code for a command ended by Ctrl-C

}  // namespace tunesmith::cli
