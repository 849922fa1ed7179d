// The reference interpreter: executes programs at any stage, slowly and
// correctly. Schedules, lowering and code generators are compared with it.
//
// Order of execution:
//  - A block instance whose predicate is false does not run; `init` runs before the body if all reduction
//    iteration variables are 0.
//  - Vectorized loops run statement by statement: a store evaluates all lanes before it writes the first.
//  - All other loops run in ascending order. After a parallel or bound loop, check_races reports pairs of
//    iterations that accessed one element.
//  - Iterations that meet at a barrier run one after another, from barrier to barrier: two that access one
//    element between the same barriers race, and one that does not reach a barrier is an error.
// Arithmetic is exact to the type: f32, f16 and bf16 round to nearest even after every
// operation, integers wrap. Functions (exp, erf, ...) are evaluated in f64 and rounded.
// Both operands of `and` and `or` are evaluated, but only one side of a select.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tunesmith/ir/program.h"
#include "tunesmith/lower/lower.h"
#include "tunesmith/support/error.h"
#include "tunesmith/verification/tensor.h"

namespace tunesmith {

/// The program did something illegal. what() names the buffer,
/// the indices, the statement and the values of its variables.
class InterpreterError : public Error {
 public:
  using Error::Error;
  ~InterpreterError() override;
};

struct InterpretOptions {
  /// Reports two iterations of a parallel loop (or two lanes of one store) that write
  /// the same element, or one that reads what another writes. An intermediate used only
  /// inside the loop counts as private to each iteration, as lowering allocates it.
  bool check_races = true;
  /// Reports reads of unwritten elements of intermediates and
  /// outputs, and outputs with unwritten elements. If off, an
  /// unwritten element reads as 0 or as an old value of its memory.
  bool check_uninitialized = true;
  /// The values of the program's parameters, in its order; empty: the highest of each.
  std::vector<int64_t> parameters = {};
};

/// Runs `program` on `arguments`: its inputs, then its outputs, which are overwritten. Throws
/// InterpreterError, also for arguments of the wrong number, type or shape, and then leaves
/// outputs unchanged. Tensors are contiguous, whatever strides their buffers have. Thread-safe.
void interpret(const Program& program, std::span<Tensor> arguments, const InterpretOptions& options = {});

/// The same for a lowered program: runs the preparation, then
/// the program. `arguments` are those of the original program.
void interpret(const LoweredProgram& lowered, std::span<Tensor> arguments,
               const InterpretOptions& options = {});

}  // namespace tunesmith
