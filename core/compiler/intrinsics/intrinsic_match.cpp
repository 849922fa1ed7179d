#include "tunesmith/intrinsics/intrinsic_match.h"

#include <algorithm>
#include <numeric>

#include "analysis/buffer_uses.h"
#include "intrinsics/element_place.h"
#include "tunesmith/affine/simplify.h"
#include "tunesmith/ir/extents.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith {
namespace {

/// Limits the orders to try; no instruction has more loops.
constexpr size_t kMaxLoops = 6;

/// Compares under one assignment of the nest's loops to the semantics' iterators.
class Matcher {
 public:
  Matcher(const TensorIntrinsic& intrinsic, const StoreNest& nest, const Program& program, bool lowered)
      : intrinsic_(intrinsic), nest_(nest), program_(program), lowered_(lowered) {
    analyzer_ = Analyzer::at(*nest.store);
    for (const Loop* loop : nest.loops) zero_.set(loop->var, Expr(0));
  }

  /// `iters[l]`: the iterator to which the nest's l-th loop is assigned; -1 for a loop of one iteration.
  std::optional<IntrinsicMatch> run(const std::vector<int>& iters) {
    iters_ = &iters;
    match_.operands.assign(intrinsic_.operands.size(), {});
    if (!access(intrinsic_.store().buffer, intrinsic_.store().indices, nest_.store->buffer,
                nest_.store->indices) ||
        !same(intrinsic_.store().value, nest_.store->value)) {
      return std::nullopt;
    }
    for (size_t i = 1; i < match_.operands.size(); ++i) {
      // An instruction reads all operands before it writes.
      if (match_.operands[i].buffer == match_.operands[0].buffer) {
        why = "an operand is the array that is written";
        return std::nullopt;
      }
    }
    return match_;
  }

  std::string_view why = "the block computes something else";

 private:
  bool same(const Expr& wanted, const Expr& given) {
    if (wanted.is(ExprKind::Load) && given.is(ExprKind::Select)) return same_inside(wanted, given);
    if (wanted.kind() != given.kind() || wanted.dtype() != given.dtype()) return false;
    if (const LoadNode* load = wanted.as<LoadNode>()) {
      const LoadNode* other = given.as<LoadNode>();
      return !other->mask() && access(load->buffer, load->indices(), other->buffer, other->indices());
    }
    if (wanted.args().empty()) return equal(wanted, given);
    const CallNode* call = wanted.as<CallNode>();
    if (call != nullptr && call->op != given.as<CallNode>()->op) return false;
    if (wanted.args().size() != given.args().size()) return false;
    if (wanted.is(ExprKind::Add) || wanted.is(ExprKind::Mul)) {
      const IntrinsicMatch before = match_;
      if (same(wanted.arg(0), given.arg(0)) && same(wanted.arg(1), given.arg(1))) return true;
      match_ = before;
      return same(wanted.arg(0), given.arg(1)) && same(wanted.arg(1), given.arg(0));
    }
    for (size_t i = 0; i < wanted.args().size(); ++i) {
      if (!same(wanted.arg(i), given.arg(i))) return false;
    }
    return true;
  }

  /// The load of an operand whose elements are zeros outside of its buffer.
  bool same_inside(const Expr& wanted, const Expr& given) {
    const LoadNode* from = wanted.as<LoadNode>();
    const LoadNode* read = given.arg(1).as<LoadNode>();
    const Expr& condition = given.arg(0);
    const size_t position = position_of(from->buffer);
    if (!intrinsic_.operands[position].zero_outside || read == nullptr || given.dtype() != wanted.dtype() ||
        !equal(given.arg(2), constant(0, wanted.dtype())) ||
        (read->mask() && !equal(read->mask(), condition)))
      return false;
    if (!lowered_ && !says_inside(condition, *read->buffer, read->indices(), analyzer_)) {
      why = "the condition of a copy is not a bounds check of its buffer";
      return false;
    }
    Substitution iters;
    for (size_t l = 0; l < nest_.loops.size(); ++l) {
      const int iter = (*iters_)[l];
      iters.set(nest_.loops[l]->var,
                iter < 0 ? Expr(0) : Expr(intrinsic_.block().iters[static_cast<size_t>(iter)].var));
    }
    return access(from->buffer, from->indices(), read->buffer, read->indices(), substitute(condition, iters));
  }

  size_t position_of(const Buffer& wanted) const {
    size_t position = 0;
    while (intrinsic_.operands[position].buffer != wanted) ++position;
    return position;
  }

  /// `inside`: as IntrinsicMatch::Operand's.
  bool access(const Buffer& wanted, std::span<const Expr> axes, const Buffer& given,
              std::span<const Expr> indices, const Expr& inside = {}) {
    const size_t position = position_of(wanted);
    const TensorOperand& operand = intrinsic_.operands[position];
    if (wanted->dtype != given->dtype) return false;
    if (!operand.scope.empty() && operand.scope != given->scope) {
      why = "an operand lives in another memory scope";
      return false;
    }
    std::vector<Expr> first;
    for (const Expr& index : indices) first.push_back(analyzer_.simplify(substitute(index, zero_)));
    IntrinsicMatch::Operand& known = match_.operands[position];
    if (known.buffer == nullptr) {
      known = {given, std::move(first), operand.strides, inside};
    } else if (known.buffer != given ||
               !std::equal(first.begin(), first.end(), known.first.begin(), known.first.end(),
                           [&](const Expr& a, const Expr& b) { return analyzer_.can_prove_equal(a, b); })) {
      return false;
    }
    return same_steps(operand, axes, given, indices, known);
  }

  /// True if each loop moves through the array as its iterator does through the operand; `found` gets the
  /// free stride.
  bool same_steps(const TensorOperand& operand, std::span<const Expr> axes, const Buffer& given,
                  std::span<const Expr> indices, IntrinsicMatch::Operand& found) {
    const std::vector<int64_t> strides = lowered_ ? std::vector<int64_t>{1} : given->effective_strides();
    const bool layout = lowered_ || !is_intermediate(program_, given);
    std::vector<LinearForm> forms;
    for (const Expr& index : indices) {
      forms.push_back(analyzer_.linear(index));
      for (const LinearForm::Term& term : forms.back().terms) {
        for (const Loop* loop : nest_.loops) {
          if (!term.atom.is(ExprKind::Var) && uses_var(term.atom, loop->var) && loop->const_extent() > 1)
            return false;
        }
      }
    }
    for (size_t l = 0; l < nest_.loops.size(); ++l) {
      if ((*iters_)[l] < 0) continue;
      const Expr iter = intrinsic_.block().iters[static_cast<size_t>((*iters_)[l])].var;
      size_t dimension = 0;
      while (dimension < axes.size() && axes[dimension].get() != iter.get()) ++dimension;
      const bool uses = dimension < axes.size();
      int64_t step = 0;
      bool moves = false;
      for (size_t d = 0; d < forms.size(); ++d) {
        const int64_t coefficient = forms[d].coefficient_of(nest_.loops[l]->var);
        if (coefficient != 0 && !lowered_ && layout && stride_varies(*given, d)) {
          why = "an operand has varying strides";
          return false;
        }
        step += coefficient * strides[d];
        moves = moves || coefficient != 0;
      }
      if (moves != uses) return false;
      if (!uses || !layout) continue;
      if (dimension == operand.free_dimension()) found.strides[dimension] = step;
      const bool fits = dimension == operand.free_dimension() ? is_row_distance(operand, step, found.inside)
                                                              : step == operand.strides[dimension];
      if (!fits) {
        why = "an operand's layout differs from the intrinsic's";
        return false;
      }
    }
    return true;
  }

  /// Is `step` a valid row stride for the operand's free dimension? Rows that end inside may be shorter.
  static bool is_row_distance(const TensorOperand& operand, int64_t step, const Expr& inside) {
    const int64_t row = operand.buffer->elements() / operand.buffer->shape[operand.free_dimension()];
    return step >= (inside ? 1 : row) && step % operand.stride_multiple == 0;
  }

  const TensorIntrinsic& intrinsic_;
  const StoreNest& nest_;
  const Program& program_;
  const bool lowered_;
  Analyzer analyzer_;
  Substitution zero_;
  const std::vector<int>* iters_ = nullptr;
  IntrinsicMatch match_;
};

}  // namespace

std::optional<StoreNest> store_nest(const Stmt& stmt) {
  StoreNest nest;
  const Stmt* at = &stmt;
  while (true) {
    if (const Seq* seq = at->as<Seq>(); seq != nullptr && seq->children().size() == 1) {
      at = seq->children()[0].get();
    } else if (const Loop* loop = at->as<Loop>()) {
      int64_t extent = 0;
      if (loop->loop_kind != LoopKind::Serial || !is_const_int(loop->min, 0) ||
          !as_const_int(loop->extent, &extent))
        return std::nullopt;
      nest.loops.push_back(loop);
      at = loop->body();
    } else {
      break;
    }
  }
  nest.store = at->as<Store>();
  if (nest.store == nullptr || nest.store->mask) return std::nullopt;
  return nest;
}

std::optional<IntrinsicMatch> match_intrinsic(const TensorIntrinsic& intrinsic, const StoreNest& nest,
                                              const Program& program, bool lowered, std::string_view* why) {
  std::vector<size_t> loops;
  for (size_t l = 0; l < nest.loops.size(); ++l) {
    if (nest.loops[l]->const_extent() > 1) loops.push_back(l);
  }
  std::vector<int> wanted;
  const std::vector<IterVar>& iters = intrinsic.block().iters;
  for (size_t i = 0; i < iters.size(); ++i) {
    if (iters[i].extent > 1) wanted.push_back(static_cast<int>(i));
  }
  *why = "the loops' extents differ";
  if (loops.size() != wanted.size() || loops.size() > kMaxLoops) return std::nullopt;
  std::sort(wanted.begin(), wanted.end());
  Matcher matcher(intrinsic, nest, program, lowered);
  do {
    std::vector<int> assigned(nest.loops.size(), -1);
    bool fits = true;
    for (size_t i = 0; i < loops.size(); ++i) {
      assigned[loops[i]] = wanted[i];
      fits = fits && nest.loops[loops[i]]->const_extent() == iters[static_cast<size_t>(wanted[i])].extent;
    }
    if (!fits) continue;
    if (auto match = matcher.run(assigned)) return match;
    *why = matcher.why;
  } while (std::next_permutation(wanted.begin(), wanted.end()));
  return std::nullopt;
}

}  // namespace tunesmith
