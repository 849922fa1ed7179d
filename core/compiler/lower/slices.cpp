#include "lower/slices.h"

#include <algorithm>

#include "ir/reads_memory.h"
#include "tunesmith/affine/simplify.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith {

std::vector<Loop*> loops_between(const Stmt& site, const Stmt& stmt) {
  std::vector<Loop*> loops;
  for (Stmt* at = stmt.parent; at != nullptr && at != &site; at = at->parent) {
    if (Loop* loop = at->as<Loop>()) loops.push_back(loop);
  }
  return loops;
}

std::optional<std::vector<Slice>> slices_of(const Expr& index, std::span<Loop* const> loops, size_t limit) {
  Expr base = index;
  int lanes = 1;
  if (index.is(ExprKind::Ramp)) {
    if (!is_const_int(index.arg(1), 1)) return std::nullopt;
    base = index.arg(0);
    lanes = index.dtype().lanes;
  } else if (index.dtype().lanes > 1) {
    return std::nullopt;
  }
  if (reads_memory(base)) return std::nullopt;
  const LinearForm form = Analyzer().linear(base);
  std::vector<Slice> slices{{form.constant, lanes}};
  for (const Loop* loop : loops) {
    if (!uses_var(base, loop->var)) continue;
    const int64_t stride = form.coefficient_of(loop->var);
    int64_t first = 0;
    if (loop->loop_kind != LoopKind::Unrolled || stride == 0 || !as_const_int(loop->min, &first))
      return std::nullopt;
    const int64_t extent = loop->const_extent();
    if (slices.size() * static_cast<size_t>(extent) > limit) return std::nullopt;
    std::vector<Slice> wider;
    for (int64_t i = first; i < first + extent; ++i) {
      for (const Slice& slice : slices) wider.push_back({slice.offset + i * stride, lanes});
    }
    slices = std::move(wider);
  }
  for (const LinearForm::Term& term : form.terms) {
    if (term.atom.is(ExprKind::Var)) continue;
    for (const Loop* loop : loops) {
      if (uses_var(term.atom, loop->var)) return std::nullopt;
    }
  }
  return slices;
}

int64_t operand_registers(const Store& store, std::span<Loop* const> loops, int64_t vector_bits) {
  // Steps of the reduction that enclose the whole tile run one after the other: operands of one are there at
  // a time.
  const auto is_step = [&](const Loop* loop) { return !uses_var(store.indices[0], loop->var); };
  while (!loops.empty() && is_step(loops.back())) loops = loops.first(loops.size() - 1);
  bool accumulates = false;
  std::optional<int64_t> fewest;
  walk_expr(store.value, [&](const Expr& part) {
    const LoadNode* access = part.as<LoadNode>();
    if (access == nullptr) return;
    accumulates = accumulates || access->buffer == store.buffer;
    if (access->buffer == store.buffer) return;
    const int64_t bits = int64_t{part.dtype().lanes} * part.dtype().bits;
    int64_t registers = (bits + vector_bits - 1) / vector_bits;
    for (const Loop* loop : loops) {
      const bool moves = loop->loop_kind == LoopKind::Unrolled && uses_var(access->indices()[0], loop->var);
      if (moves) registers *= loop->const_extent();
    }
    fewest = std::min(fewest.value_or(registers), registers);
  });
  return accumulates && fewest ? *fewest + 1 : 0;
}

int64_t registers_for(std::span<const Slice> slices, DType element, int64_t vector_bits) {
  int64_t registers = 0;
  for (const Slice& slice : slices)
    registers += (slice.lanes * int64_t{element.bits} + vector_bits - 1) / vector_bits;
  return registers;
}

}  // namespace tunesmith
