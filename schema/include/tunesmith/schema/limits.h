// What anything that leaves a process may hold at most (docs/records.md). What only messages have is limited
// in measuring/messages/limits.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#pragma GCC visibility push(default)
namespace tunesmith {

/// Objects and lists within each other: references[0].prepare.reads[0], and some more.
inline constexpr int kMaxNesting = 16;
/// A line, and the header of a question: the largest text of many lines twice, and some more.
inline constexpr size_t kMaxLineBytes = size_t{4} << 20;
/// A text of many lines: a workload's definition, a trace, a space's rules, what an option says.
inline constexpr size_t kMaxText = size_t{1} << 20;
/// What a target and its extensions are, or which workload, in one line.
inline constexpr size_t kMaxIdentity = size_t{64} << 10;
/// A symbol, the name of a buffer or a plugin, an id, a file: PATH_MAX.
inline constexpr size_t kMaxName = 4096;
/// A failure's message is a line or a few. Of what is longer the rest is left out; what is no text may then
/// take three times as much.
inline constexpr size_t kKeptMessage = size_t{1} << 14;
inline constexpr size_t kMaxMessage = 3 * kKeptMessage + 16;
/// More than any processor can address.
inline constexpr int64_t kMaxMemory = int64_t{1} << 48;
/// Eleven days: a time-out of many of them still fits a clock's nanoseconds.
inline constexpr double kMaxSeconds = 1e6;
/// A call takes longer, by any clock and any model.
inline constexpr double kMinSeconds = 1e-15;
/// Repeats of one measurement.
inline constexpr int64_t kMaxRepeats = 1'000'000;
inline constexpr int64_t kMaxThreads = 65536;
/// Of what has no limit, such as terms of a sum.
inline constexpr int64_t kAnyCount = std::numeric_limits<int64_t>::max();

}  // namespace tunesmith
#pragma GCC visibility pop
