// The limits of everything that leaves a process (docs/records.md).
// measuring/messages/limits.h has those of messages only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#pragma GCC visibility push(default)
namespace tunesmith {

/// Nested objects and lists: references[0].prepare.reads[0] and some reserve.
inline constexpr int kMaxNesting = 16;
/// A line, and the header of a question: twice the largest text of many lines, and some reserve.
inline constexpr size_t kMaxLineBytes = size_t{4} << 20;
/// A text of many lines: a workload's definition, a trace, a space's rules, an option's value.
inline constexpr size_t kMaxText = size_t{1} << 20;
/// One line that describes a target with its extensions, or a workload.
inline constexpr size_t kMaxIdentity = size_t{64} << 10;
/// A symbol, the name of a buffer or plugin, an id, a file: PATH_MAX.
inline constexpr size_t kMaxName = 4096;
/// The kept part of a failure's message, which is usually a line
/// or a few; invalid UTF-8 may then take three times as much.
inline constexpr size_t kKeptMessage = size_t{1} << 14;
inline constexpr size_t kMaxMessage = 3 * kKeptMessage + 16;
/// More than any processor can address.
inline constexpr int64_t kMaxMemory = int64_t{1} << 48;
/// Eleven days: sums of several such time-outs still fit a clock's nanoseconds.
inline constexpr double kMaxSeconds = 1e6;
/// Less than any process needs to answer.
inline constexpr double kMinTimeOut = 1e-3;
/// Less than any call can take, by any clock or model.
inline constexpr double kMinSeconds = 1e-15;
/// Repeats of one measurement.
inline constexpr int64_t kMaxRepeats = 1'000'000;
inline constexpr int64_t kMaxThreads = 65536;
/// For counts without a limit, such as terms of a sum.
inline constexpr int64_t kAnyCount = std::numeric_limits<int64_t>::max();

}  // namespace tunesmith
#pragma GCC visibility pop
