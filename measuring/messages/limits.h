// What messages and their fields may hold at most.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "messages/message.h"

namespace tunesmith {

/// An answer without attachments. The longest one is that of rounds, which asks for 4,000 samples at most
/// (interleave.cpp), of 25 bytes each.
inline constexpr MessageLimits kPlainAnswer{uint64_t{1} << 20, 0, 0};
/// A question: a task's header has some 100 bytes for each buffer, and the options of a target. Its
/// attachments are objects and the reference's results, which may be as large as memory is: nothing is
/// reserved for them before they come. Their number: two references, and each buffer in 256 draws of two
/// sets.
inline constexpr MessageLimits kQuestion{uint64_t{4} << 20, uint64_t{1} << 17, uint64_t{1} << 40};

/// A worker can watch 256 pieces of memory (worker_faults.h).
inline constexpr size_t kMaxBuffers = 256;
inline constexpr size_t kMaxDimensions = 64;
/// More than any processor can address.
inline constexpr int64_t kMaxMemory = int64_t{1} << 48;
/// A symbol, the name of a buffer or a plugin, a file: PATH_MAX.
inline constexpr size_t kMaxName = 4096;
/// What an option says, which may be a text of many lines.
inline constexpr size_t kMaxOptionText = size_t{1} << 20;
inline constexpr size_t kMaxOptions = 4096;  // also of the values of one
inline constexpr size_t kMaxPluginPaths = 4096;
/// Two for each extension whose instructions a kernel calls.
inline constexpr size_t kMaxSetupParts = 1024;
/// A failure's message is a line or a few. Of what is longer the rest is left out; what is no text may then
/// take three times as much.
inline constexpr size_t kKeptMessage = size_t{1} << 14;
inline constexpr size_t kMaxMessage = 3 * kKeptMessage + 16;
/// Eleven days: a time-out of many of them still fits a clock's nanoseconds.
inline constexpr double kMaxSeconds = 1e6;
/// A call takes longer, by any clock and any model.
inline constexpr double kMinSeconds = 1e-15;
inline constexpr int64_t kMaxRounds = 1'000'000;
/// Of what has no limit, such as terms of a sum.
inline constexpr int64_t kAnyCount = std::numeric_limits<int64_t>::max();
inline constexpr int64_t kMaxThreads = 65536;

}  // namespace tunesmith
