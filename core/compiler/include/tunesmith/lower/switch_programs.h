// One program of several, each for an interval of a parameter's values.
#pragma once

#include <cstdint>
#include <span>

#include "tunesmith/lower/lower.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// `lowered` computes what is wanted where the parameter has values from `lowest` to `highest`.
struct ProgramOfInterval {
  const LoweredProgram* lowered = nullptr;
  int64_t lowest = 0;
  int64_t highest = 0;
};

/// A program that does what that of the interval does in which its parameter, the `parameter`-th, lies. All
/// are of one program and for the same target; the intervals are disjoint and cover the parameter's range.
/// Workspace is shared; prepared memory is as well where two prepare the same.
LoweredProgram switch_programs(size_t parameter, std::span<const ProgramOfInterval> parts);

}  // namespace tunesmith
#pragma GCC visibility pop
