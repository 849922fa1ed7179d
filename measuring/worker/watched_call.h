// Calls compiled code and checks that it keeps the calling convention.
#pragma once

#include <cstdint>
#include <string>

namespace tunesmith {

/// Calls `function` with these arguments. Returns a bit for each changed
/// callee-saved register, for the direction flag, and for the x87 unit, whose
/// registers must be empty; restores all. Detects nothing on unsupported processors.
uint32_t watched_call(void (*function)(), uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d);

/// An additional bit: the stack was misaligned at a call.
inline constexpr uint32_t kUnalignedStack = 1U << 8;

/// "changed rbp and r12, which belong to the caller", of bits that are not all 0.
std::string caller_state_changed(uint32_t bits);

}  // namespace tunesmith
