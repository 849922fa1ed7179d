// A program as the interpreter runs it: the same tree, with variables and buffers replaced by slots, so that
// running it looks nothing up.
#pragma once

#include <string>
#include <vector>

#include "tunesmith/ir/program.h"

namespace tunesmith::interp {

struct ExprCode {
  ExprKind kind = ExprKind::IntImm;
  MathOp math = MathOp::Exp;  // Call
  DType type;
  bool operands_float = false;
  bool masked = false;  // Load: the last of args is the mask
  int slot = -1;        // Var: the variable's; Load: the buffer's
  int64_t int_value = 0;
  double float_value = 0;
  std::vector<ExprCode> args;
};

struct StmtCode {
  const Stmt* source = nullptr;
  LoopKind loop_kind = LoopKind::Serial;
  bool has_init = false;  // Block: children are init and body
  size_t rank = 0;        // Store: number of indices
  int slot = -1;          // Loop: the variable's; Store, Allocate: the buffer's
  /// Loop: min, extent. Block: bindings, predicate. Store: indices, value, mask if any. If: condition.
  std::vector<ExprCode> exprs;
  std::vector<int> iter_slots;  // Block: of its iteration variables
  std::vector<bool> own;  // Loop, Parallel or Bound: which buffers, by slot, each iteration has for itself
  /// Loop: the variables that distinguish the members of a group, whose first member executes it for all.
  std::vector<int> members;
  std::string level;  // the level whose iterations synchronise at the first barrier at or inside it; "": none
  std::vector<StmtCode> children;
};

/// A buffer that shares bytes of its scope's memory with another one.
struct Sharer {
  size_t slot = 0;
  int64_t bytes = 0;  // offset in bytes behind the beginning of the other
};

struct ProgramCode {
  StmtCode root;
  size_t variables = 0;
  std::vector<Buffer> buffers;                // by slot: inputs, outputs, then others
  std::vector<bool> allocated;                // by slot: has an Allocate, and exists only inside it
  std::vector<std::vector<Sharer>> sharers;   // by slot
  std::vector<const VarNode*> variable_of;    // by slot, parameters of the program first
  std::vector<int64_t> parameters;            // their values
  std::vector<std::vector<int64_t>> extents;  // by slot of the buffer: as far as it exists
  std::vector<bool> packed;                   // by slot: it lies without gaps as far as it exists
};

/// Compiles for these values of the program's parameters. Throws InterpreterError for undeclared buffers and
/// for variables that are not in scope.
ProgramCode compile(const Program& program, std::vector<int64_t> parameters);

}  // namespace tunesmith::interp
