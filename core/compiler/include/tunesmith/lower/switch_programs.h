// Joins programs that were tuned for different intervals of a parameter into one that dispatches on its
// value.
#pragma once

#include <cstdint>
#include <span>

#include "tunesmith/lower/lower.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// The program for parameter values in [lowest, highest].
struct ProgramOfInterval {
  const LoweredProgram* lowered = nullptr;
  int64_t lowest = 0;
  int64_t highest = 0;
};

/// A program that runs the part whose interval contains the value of the `parameter`-th parameter. All parts
/// are lowered from one program for one target; their intervals are disjoint and cover the parameter's range.
/// The parts share the workspace, and prepared memory if their preparations are equal. Throws InternalError
/// if `parts` is empty.
LoweredProgram switch_programs(size_t parameter, std::span<const ProgramOfInterval> parts);

}  // namespace tunesmith
#pragma GCC visibility pop
