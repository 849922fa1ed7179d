#include "lower/slices.h"

#include <algorithm>

#include "ir/reads_memory.h"
#include "tunesmith/affine/simplify.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith {
namespace {

/// The factor of the variable in a product. Null if it is no such product.
Expr factor_of(const Expr& product, const Var& var) {
  if (product.same_as(var)) return 1;
  if (!product.is(ExprKind::Mul)) return {};
  const bool first = uses_var(product.arg(0), var);
  const Expr factor = factor_of(product.arg(first ? 0 : 1), var);
  return factor ? factor * product.arg(first ? 1 : 0) : factor;
}

bool is_of_parameters(const Expr& expr) {
  return std::ranges::all_of(vars_of(expr), [](const Var& var) { return var->is_parameter(); });
}

/// Steps through memory. If a stride varies (is_packed), elements of different rows are still different: a
/// large constant that no row exceeds represents the stride.
class Steps {
 public:
  explicit Steps(const LinearForm& form) : form_(form) {}

  /// 0 if unknown.
  int64_t of(const Var& var) {
    int64_t step = form_.coefficient_of(var);
    for (const LinearForm::Term& term : form_.terms) {
      if (term.atom.is(ExprKind::Var) || !uses_var(term.atom, var)) continue;
      const Expr factor = factor_of(term.atom, var);
      if (step != 0 || !factor || !is_of_parameters(factor)) return 0;
      step = term.coefficient * distance(factor);
    }
    return step;
  }

 private:
  static constexpr int64_t kRow = int64_t{1} << 24;
  static constexpr int64_t kRows = 256;  // more than registers hold
  static constexpr size_t kMaxFactors = 3;

  int64_t distance(const Expr& factor) {
    int64_t row = kRow;
    for (const Expr& known : factors_) {
      if (equal(known, factor)) return row;
      row *= kRows;
    }
    if (factors_.size() == kMaxFactors) return 0;
    factors_.push_back(factor);
    return row;
  }

  const LinearForm& form_;
  std::vector<Expr> factors_;
};

}  // namespace

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
  Steps steps(form);
  std::vector<Slice> slices{{form.constant, lanes}};
  for (const Loop* loop : loops) {
    if (!uses_var(base, loop->var)) continue;
    const int64_t stride = steps.of(loop->var);
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
  return slices;
}

int64_t operand_registers(const Store& store, std::span<Loop* const> loops, int64_t vector_bits) {
  // Reduction steps that enclose the whole tile are sequential: the operands of only one step are live at a
  // time.
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
