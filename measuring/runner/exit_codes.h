// Exit codes by which a worker says why it ended, if it still can.
#pragma once

namespace tunesmith {

inline constexpr int kExitOutOfBounds = 90;  // a guard page or a read-only input was touched
inline constexpr int kExitOutOfMemory = 91;
inline constexpr int kExitIllegalInstruction = 92;
inline constexpr int kExitCrash = 93;

}  // namespace tunesmith
