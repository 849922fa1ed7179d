#include <algorithm>

#include <fmt/format.h>

#include "lower/slices.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/lower/passes.h"

namespace tunesmith {
namespace {

/// Why the buffer of `allocate` cannot live in registers; "" if it can.
std::string obstacle(const Allocate& allocate, const LowerOptions& options) {
  const size_t limit = static_cast<size_t>(std::max<int64_t>(allocate.buffer->span(), 1));
  std::vector<Slice> distinct;
  int64_t operands = 0;
  std::string reason;
  const auto visit = [&](const Stmt& stmt, const Expr& index) {
    if (!reason.empty()) return;
    const std::vector<Loop*> loops = loops_between(allocate, stmt);
    if (std::any_of(loops.begin(), loops.end(),
                    [](const Loop* loop) { return loop->loop_kind == LoopKind::Parallel; })) {
      reason = "it is shared by threads";
      return;
    }
    const auto slices = slices_of(index, loops, limit);
    if (!slices) {
      reason = "an index is not constant once the unrolled loops are expanded";
      return;
    }
    for (const Var& var : vars_of(index)) {
      if (std::none_of(loops.begin(), loops.end(), [&](const Loop* loop) { return loop->var == var; })) {
        reason = "an index uses a loop outside the buffer's life";
        return;
      }
    }
    for (const Slice& slice : *slices) {
      // A mask omits elements before the buffer, but no part of a register can begin there.
      if (slice.offset < 0 && slice.offset + slice.lanes > 0) reason = "an access begins before it";
      bool known = false;
      for (const Slice& other : distinct) {
        known = known || other == slice;
        if (!(other == slice) && other.overlaps(slice)) reason = "two accesses overlap in part";
      }
      if (!known) distinct.push_back(slice);
      if (distinct.size() > 256) reason = "it has too many parts";
      if (!reason.empty()) return;
    }
  };
  walk_accesses(allocate, [&](const Stmt& stmt, const AccessSite& access) {
    if (access.buffer != allocate.buffer) return;
    visit(stmt, access.indices[0]);
    if (access.load != nullptr) return;
    operands = std::max(
        operands, operand_registers(*stmt.as<Store>(), loops_between(allocate, stmt), options.vector_bits));
  });
  const int64_t registers = registers_for(distinct, allocate.buffer->dtype, options.vector_bits);
  if (reason.empty() && registers + operands > options.vector_registers) {
    reason = "it needs more registers than the target has";
  }
  return reason;
}

}  // namespace

void assign_registers(Program& program, const LowerOptions& options) {
  for (Allocate* allocate : collect<Allocate>(program.root())) {
    if (allocate->buffer->scope == kScopeGlobal) continue;
    const bool required = allocate->buffer->scope == kScopeRegister;
    if (!required && allocate->buffer->scope != kScopeLocal) continue;
    const std::string reason = obstacle(*allocate, options);
    if (!reason.empty()) {
      if (required)
        throw LowerError("assign_registers", "a register buffer cannot live in registers",
                         fmt::format("{}: {}", allocate->buffer->name, reason));
      continue;
    }
    if (required) continue;
    const Buffer old = allocate->buffer;
    const Buffer now = make_buffer(old->name, old->dtype, old->shape, kScopeRegister, false, old->strides);
    replace_buffer_in(*allocate, old, now);
    allocate->buffer = now;
  }
}

}  // namespace tunesmith
