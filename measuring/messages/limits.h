// Limits of messages and their fields, besides those of the schema (schema/limits.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "messages/message.h"
#include "tunesmith/schema/limits.h"

namespace tunesmith {

/// An answer without attachments. The longest one answers time_in_turn,
/// with at most 4,000 samples (interleave.cpp) of 25 bytes.
inline constexpr MessageLimits kPlainAnswer{uint64_t{1} << 20, 0, 0};
/// A question: a task's header has some 100 bytes for each buffer, and the options of a target. Its
/// attachments are objects and the reference's results, which may be as large as memory is: nothing is
/// reserved for them before they come. Their number: two references, and each buffer in 256 draws of two
/// sets.
inline constexpr MessageLimits kQuestion{kMaxLineBytes, uint64_t{1} << 17, uint64_t{1} << 40};

/// A worker can watch 256 pieces of memory (worker_faults.h).
inline constexpr size_t kMaxBuffers = 256;
inline constexpr size_t kMaxDimensions = 64;
inline constexpr size_t kMaxOptions = 4096;  // also of the values of one option
inline constexpr size_t kMaxPluginPaths = 4096;
/// Two for each extension whose instructions a kernel calls.
inline constexpr size_t kMaxSetupParts = 1024;
inline constexpr int64_t kMaxRounds = 1'000'000;

}  // namespace tunesmith
