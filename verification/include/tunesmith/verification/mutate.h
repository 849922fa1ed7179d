// Makes wrong programs out of right ones: mistakes that a scheduler, a lowering pass or a code generator
// could make. A mutant is a program like any other: lowered, compiled and verified it takes the way that
// candidates take, so it says whether the check on that way notices the mistake. All functions are pure and
// thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "tunesmith/ir/program.h"

namespace tunesmith {

enum class Mutation : uint8_t {
  TileDropped,        // an outermost loop ends one iteration early
  TailDropped,        // an innermost one does
  OffByOne,           // a load reads the next element
  InitMissing,        // a reduction starts from what is in memory
  InitRepeated,       // it starts again in the middle
  TermDropped,        // one of its terms is left out
  TermTwice,          // or counted twice
  OperandsSwapped,    // a - b as b - a, or two indices of a load
  PaddingNotFilled,   // what lies outside keeps what is in memory
  ScaleLost,          // a factor or divisor is left out
  StaleWorkspace,     // a part of an intermediate is not computed
  OneElementWrong,    // one element of an output is made from the wrong input
  Zeros,              // an output is zero
  FunctionReplaced,   // gelu by relu, exp by 1 + x, relu by nothing, a maximum by the last term
  NarrowAccumulator,  // a sum is rounded to the next narrower type at each step
  // At the ends of the types' ranges.
  Clamped,           // an output is at most 6, or 100, or 65504
  LowHalfProduct,    // integers are multiplied by the lower halves of their bits
  Saturates,         // a sum of integers ends at the ends of its type
  SignLost,          // an input counts without its sign
  ConversionWraps,   // a float beyond an integer's range wraps around
  DenormalsFlushed,  // of an input, for zero
  ExtremeSwapped,    // max(a, b) as max(b, a), which differs for a NaN
};
inline constexpr size_t kMutations = 22;

/// In lower case, for people and records: "off by one".
std::string_view mutation_name(Mutation mutation);
/// True for what leaves the result in f64 as it is: nothing but rounding goes wrong.
bool is_rounding_only(Mutation mutation);

/// A copy of `program`, which is scheduled or not and not lowered, with the mistake at its `site`-th place,
/// from 0; nothing where there are no more. The same place each time. A mutant may compute the same by
/// chance, and may be one that lowering refuses.
std::optional<Program> mutate(const Program& program, Mutation mutation, uint64_t site);

/// A copy with every floating type as f64, to tell whether a mutation changes what is computed.
Program in_double_precision(const Program& program);

}  // namespace tunesmith
