#include "primitives/shared/block_piece.h"

#include <algorithm>

#include <fmt/format.h>

#include "tunesmith/affine/iter_map.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith {
namespace {

class PieceFinder {
 public:
  PieceFinder(const Block& block, const LoopPiece& piece, BlockPiece* result)
      : block_(block), piece_(piece), result_(*result), analyzer_(Analyzer::at(block)) {
    analyzer_.bind(piece.loop->var, piece.end - piece.begin);
    for (const Loop* loop : loops_above(block)) {
      const bool split = loop == piece.loop;
      domains_.push_back({loop->var, split ? piece.end - piece.begin : loop->const_extent()});
    }
  }

  std::optional<Refusal> run() {
    const Substitution shift{{piece_.loop->var, piece_.loop->var + Expr(piece_.begin)}};
    bool used = uses_var(block_.predicate, piece_.loop->var);
    for (const Expr& binding : block_.bindings) {
      used = used || uses_var(binding, piece_.loop->var);
      result_.bindings.push_back(analyzer_.simplify(substitute(binding, shift)));
    }
    result_.predicate = analyzer_.simplify(substitute(block_.predicate, shift));
    result_.runs = !is_const_int(result_.predicate, 0);
    if (!result_.runs) return std::nullopt;
    shrink_domains();
    if (!used || check().bijective || every_binding_covers()) return std::nullopt;
    if (one_iterator_a_loop()) return std::nullopt;
    return Refusal{"the instances of a block in a piece cannot be determined", block_.name, &block_};
  }

 private:
  /// Shrinks the iterators' domains to the values that their bindings take.
  void shrink_domains() {
    for (size_t i = 0; i < block_.iters.size(); ++i) {
      const IterVar& iter = block_.iters[i];
      Interval range = analyzer_.bounds(result_.bindings[i]);
      range = {std::max<int64_t>(range.min, 0), std::min(range.max, iter.extent - 1)};
      const bool whole = range.min == 0 && range.max == iter.extent - 1;
      result_.iters.push_back({Var(iter.var->name), range.max - range.min + 1, iter.kind});
      result_.values.push_back(result_.iters.back().var + Expr(range.min));
      if (!whole) result_.bindings[i] = analyzer_.simplify(result_.bindings[i] - Expr(range.min));
      if (iter.kind == IterKind::Reduction && range.min > 0) result_.holds_first = false;
    }
  }

  IterMapCheck check() const {
    const auto domains = used_domains(domains_, result_.bindings, result_.predicate);
    return check_iter_map(result_.bindings, iter_extents(result_.iters), domains, result_.predicate);
  }

  /// The binding's loops and coefficients, by increasing coefficient; nothing if it is not an increasing sum
  /// of loops that no other binding uses.
  std::optional<std::vector<std::pair<int64_t, IterDomain>>> own_loops(size_t i) const {
    std::vector<std::pair<int64_t, IterDomain>> loops;
    for (const LinearForm::Term& term : analyzer_.linear(result_.bindings[i]).terms) {
      const auto domain = std::find_if(domains_.begin(), domains_.end(), [&](const IterDomain& known) {
        return known.var.get() == term.atom.get();
      });
      if (domain == domains_.end() || term.coefficient <= 0) return std::nullopt;
      for (size_t other = 0; other < result_.bindings.size(); ++other) {
        if (other != i && uses_var(result_.bindings[other], domain->var)) return std::nullopt;
      }
      loops.emplace_back(term.coefficient, *domain);
    }
    std::sort(loops.begin(), loops.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    return loops;
  }

  bool covers_alone(size_t i) const {
    const auto loops = own_loops(i);
    if (!loops.has_value()) return false;
    int64_t reached = 0;
    for (const auto& [coefficient, domain] : *loops) {
      if (coefficient > reached + 1) return false;
      reached += coefficient * (domain.extent - 1);
    }
    return reached + 1 == result_.iters[i].extent;
  }

  /// Instances may run more than once, under overlapping tiles.
  bool every_binding_covers() const {
    if (!is_const_int(result_.predicate, 1)) return false;
    for (size_t i = 0; i < result_.bindings.size(); ++i) {
      if (!covers_alone(i)) return false;
    }
    return true;
  }

  /// Splits an iterator into one iterator per loop if a piece leaves gaps in its inner tile.
  bool one_iterator_a_loop() {
    if (!is_const_int(result_.predicate, 1)) return false;
    if (!check().injective) return false;
    BlockPiece split = result_;
    split.iters.clear();
    split.bindings.clear();
    for (size_t i = 0; i < result_.iters.size(); ++i) {
      if (covers_alone(i)) {
        split.iters.push_back(result_.iters[i]);
        split.bindings.push_back(result_.bindings[i]);
        continue;
      }
      const auto loops = own_loops(i);
      if (!loops.has_value()) return false;
      const Expr first = substitute(result_.values[i], {{result_.iters[i].var, 0}});
      split.values[i] = first;
      for (size_t n = loops->size(); n-- > 0;) {
        const auto& [coefficient, domain] = (*loops)[n];
        const Var var(fmt::format("{}_{}", block_.iters[i].var->name, loops->size() - 1 - n));
        split.iters.push_back({var, domain.extent, block_.iters[i].kind});
        split.bindings.emplace_back(domain.var);
        split.values[i] = split.values[i] + var * Expr(coefficient);
      }
    }
    result_ = std::move(split);
    return true;
  }

  const Block& block_;
  const LoopPiece& piece_;
  BlockPiece& result_;
  Analyzer analyzer_;
  std::vector<IterDomain> domains_;  // of all loops around
};

}  // namespace

std::optional<Refusal> block_piece_refusal(const Block& block, const LoopPiece& piece, BlockPiece* result) {
  if (auto refusal = opaque_refusal(block, "a block below has opaque iterators")) return refusal;
  if (holds_blocks(block)) return Refusal{"a block below holds other blocks", block.name, &block};
  return PieceFinder(block, piece, result).run();
}

void apply_piece(Block& block, const BlockPiece& piece, const Substitution& loops) {
  const Substitution values = block.iters_at(piece.values);
  block.iters = piece.iters;
  block.bindings = substitute(piece.bindings, loops);
  block.predicate = substitute(piece.predicate, loops);
  if (!piece.holds_first) block.take_init();
  replace_iters(block, values);
}

}  // namespace tunesmith
