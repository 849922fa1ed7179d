// A call of compiled code that looks at what the calling convention leaves to the caller.
#pragma once

#include <cstdint>
#include <string>

namespace tunesmith {

/// Calls `function` with these arguments. What it has changed that is its caller's: one bit each of registers
/// that it must keep, the direction of string instructions, and the old unit, whose registers must be empty.
/// All of it is set back. On processors that this does not know, nothing is seen.
uint32_t watched_call(void (*function)(), uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d);

/// One more bit: the stack was not aligned where the code has called.
inline constexpr uint32_t kUnalignedStack = 1U << 8;

/// "changed rbp and r12, which belong to the caller", of bits that are not all 0.
std::string caller_state_changed(uint32_t bits);

}  // namespace tunesmith
