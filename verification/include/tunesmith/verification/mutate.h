// Makes wrong programs from correct ones: mistakes that a scheduler, a
// lowering pass or a code generator could make. Mutants are lowered,
// compiled and verified like candidates, which shows whether verification
// notices the mistake. All functions are pure and thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "tunesmith/ir/program.h"

namespace tunesmith {

enum class Mutation : uint8_t {
  TileDropped,        // an outermost loop ends one iteration early
  TailDropped,        // an innermost loop ends one iteration early
  OffByOne,           // a load reads the next element
  InitMissing,        // a reduction starts from old memory
  InitRepeated,       // a reduction starts again in the middle
  TermDropped,        // a term of a reduction is left out
  TermTwice,          // a term is counted twice
  OperandsSwapped,    // a - b as b - a, or two indices of a load
  PaddingNotFilled,   // padding keeps old memory
  ScaleLost,          // a factor or divisor is left out
  StaleWorkspace,     // a part of an intermediate is not computed
  OneElementWrong,    // one element of an output is computed from the wrong input
  Zeros,              // an output is zero
  FunctionReplaced,   // gelu by relu, exp by 1 + x, relu by nothing, a maximum by the last term
  NarrowAccumulator,  // a sum is rounded to the next narrower type at each step
  // At the ends of the types' ranges.
  Clamped,           // an output is limited to 6, 100, or 65504
  LowHalfProduct,    // integers are multiplied by the lower halves of their bits
  Saturates,         // a sum of integers saturates
  SignLost,          // an input loses its sign
  ConversionWraps,   // a float beyond an integer's range wraps around
  DenormalsFlushed,  // denormals of an input become zero
  ExtremeSwapped,    // max(a, b) as max(b, a), which differs for a NaN
};
inline constexpr size_t kMutations = 22;

/// In lower case, for messages and records: "off by one".
std::string_view mutation_name(Mutation mutation);
/// True if the result in f64 does not change: only rounding is affected.
bool is_rounding_only(Mutation mutation);

/// A copy of `program` (scheduled or not, but not lowered) with the mistake at its
/// `site`-th place, from 0; nothing if there are no more places. Deterministic. A
/// mutant may compute the same by chance, and lowering may refuse it.
std::optional<Program> mutate(const Program& program, Mutation mutation, uint64_t site);

/// A copy with all floating types as f64, to check whether a mutation changes the result.
Program in_double_precision(const Program& program);

}  // namespace tunesmith
