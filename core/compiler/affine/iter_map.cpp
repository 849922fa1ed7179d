#include "tunesmith/affine/iter_map.h"

#include <algorithm>

#include <fmt/format.h>
#include <tl/expected.hpp>

#include "affine/index_inverse.h"
#include "affine/interval.h"
#include "affine/iter_marks.h"
#include "tunesmith/affine/linear_form.h"
#include "tunesmith/ir/printer.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/support/error.h"

namespace tunesmith {
namespace {

using affine::MarkTable;
using affine::Piece;
using affine::PieceSum;

Analyzer analyzer_over(std::span<const IterDomain> domains) {
  Analyzer analyzer;
  for (const IterDomain& domain : domains) analyzer.bind(domain);
  return analyzer;
}

/// Calls `visit(sum, bound)` for each part  sum < bound  of a conjunction; for other parts `sum` is null.
template <typename Visit>
void for_each_bound(const Expr& predicate, const Analyzer& analyzer, const Visit& visit) {
  for (const Expr& part : conjuncts(predicate)) {
    const std::optional<LinearForm> slack = slack_of(part, analyzer);
    if (!slack) {
      visit(Expr(), 0);
      continue;
    }
    LinearForm sum;
    for (const auto& [coefficient, atom] : slack->terms) sum.terms.push_back({-coefficient, atom});
    visit(sum.to_expr(), slack->constant + 1);
  }
}

/// Tightens the domains by the predicate's bounds on single loops, and the predicate by the domains.
Expr narrow(Expr predicate, std::vector<IterDomain>& domains) {
  for (bool changed = !is_const_int(predicate, 1); changed;) {
    changed = false;
    const Analyzer analyzer = analyzer_over(domains);
    predicate = analyzer.simplify(predicate);
    for_each_bound(predicate, analyzer, [&](const Expr& sum, int64_t bound) {
      if (!sum) return;
      const LinearForm form = analyzer.linear(sum);
      const Interval all = analyzer.bounds(sum);
      for (const auto& [coefficient, atom] : form.terms) {
        if (coefficient < 0 || !atom.is(ExprKind::Var) || !all.bounded()) continue;
        if (hides(form, Var::from(atom))) continue;  // the others may fall as it grows: i - i // 4
        // The other terms are at least all.min, since this one is 0 there.
        const int64_t last = floor_divide(bound - 1 - all.min, coefficient);
        for (IterDomain& domain : domains) {
          if (domain.var.get() != atom.get() || last < 0 || last >= domain.extent - 1) continue;
          domain.extent = last + 1;
          changed = true;
        }
      }
    });
  }
  return predicate;
}

/// Finds the marks that the bindings' values determine: for each mark the largest  reach  with known  mark %
/// reach.
class Recovery {
 public:
  Recovery(const MarkTable& table, size_t loops)
      : table_(table), facts_(table.marks().size()), loops_(loops) {}

  void learn(const PieceSum::Pieces& pieces) {
    for (const Piece& piece : pieces) learn(piece);
  }

  /// True if all loops are recovered.
  bool run() {
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t m = 0; m < facts_.size(); ++m) changed = advance(m) || changed;
    }
    for (size_t m = 0; m < loops_; ++m) {
      if (!is_whole(m)) return false;
    }
    return true;
  }

  bool is_whole(size_t m) const { return facts_[m].reach >= table_.marks()[m].extent; }

 private:
  struct Facts {
    PieceSum::Pieces known;
    int64_t reach = 1;
    int64_t told = 0;  // the reach that has already been propagated to the pieces
  };
  static size_t index(const Piece& piece) { return static_cast<size_t>(piece.mark); }

  void learn(const Piece& piece) {
    facts_[index(piece)].known.push_back(piece);
    if (piece.lower > 1 && table_.at_top(piece))
      tell_upper_pieces(table_.mark(piece.mark).pieces, piece.lower);
  }

  /// sum // divisor  determines the pieces whose scales it divides, and the upper part of the finest piece.
  void tell_upper_pieces(const PieceSum::Pieces& pieces, int64_t divisor) {
    const auto divided = [&](const Piece& piece) { return piece.scale % divisor == 0; };
    if (pieces.empty() || pieces.back().scale != 1) return;
    if (!std::all_of(pieces.begin(), pieces.end() - 1, divided)) return;
    learn({pieces.begin(), pieces.end() - 1});
    Piece finest = pieces.back();
    if (divisor >= finest.extent) return;
    if (!table_.at_top(finest) && finest.extent % divisor != 0) return;
    finest.lower *= divisor;
    finest.extent = (finest.extent + divisor - 1) / divisor;
    learn(finest);
  }

  bool advance(size_t m) {
    Facts& facts = facts_[m];
    facts.reach = std::max(facts.reach, reach_from_pieces(table_.marks()[m].pieces));
    for (bool changed = true; changed && !is_whole(m);) {
      changed = false;
      for (const Piece& piece : facts.known) {
        // mark % (lower * extent) = (mark // lower % extent) * lower + mark % lower
        const int64_t end = piece.lower * piece.extent;
        if (facts.reach % piece.lower != 0 || end <= facts.reach) continue;
        facts.reach = end;
        changed = true;
      }
    }
    if (facts.told == facts.reach) return false;
    facts.told = facts.reach;
    if (is_whole(m)) {
      learn(table_.marks()[m].pieces);
    } else {
      tell_pieces(table_.marks()[m].pieces, facts.reach);
    }
    return true;
  }

  /// The largest result for which  piece % result  is known.
  int64_t known_values(const Piece& piece) const {
    const Facts& facts = facts_[index(piece)];
    if (is_whole(index(piece))) return piece.extent;
    for (const Piece& known : facts.known) {
      if (known.lower == piece.lower && known.extent == piece.extent) return piece.extent;
    }
    if (facts.reach % piece.lower != 0) return 1;
    const int64_t values = facts.reach / piece.lower;
    if (values >= piece.extent) return piece.extent;
    return table_.at_top(piece) || piece.extent % values == 0 ? values : 1;
  }

  /// The r for which the finer pieces determine  sum % r; it divides the scales of all coarser pieces.
  int64_t reach_from_pieces(const PieceSum::Pieces& pieces) const {
    int64_t best = 1;
    for (size_t i = pieces.size(); i-- > 0;) {
      const int64_t values = known_values(pieces[i]);
      const bool all = values == pieces[i].extent;
      const int64_t reach = pieces[i].scale * values;
      const auto divides = [&](const Piece& coarser) { return coarser.scale % reach == 0; };
      if (std::all_of(pieces.begin(), pieces.begin() + static_cast<std::ptrdiff_t>(i), divides)) best = reach;
      if (!all) break;
    }
    return best;
  }

  /// sum % reach  determines the pieces below the reach, and the part below it of the piece at the reach.
  void tell_pieces(const PieceSum::Pieces& pieces, int64_t reach) {
    size_t first = 0;
    while (first < pieces.size() && pieces[first].scale % reach == 0) ++first;
    if (first == pieces.size() || reach % pieces[first].scale != 0) return;
    for (size_t i = first; i < pieces.size(); ++i) {
      Piece piece = pieces[i];
      const int64_t values = i == first ? reach / piece.scale : piece.extent;
      if (values < piece.extent) {
        if (!table_.at_top(piece) && piece.extent % values != 0) continue;
        piece.extent = values;
      }
      learn(piece);
    }
  }

  const MarkTable& table_;
  std::vector<Facts> facts_;
  size_t loops_;
};

std::string missing_loop(const Recovery& recovery, std::span<const Expr> bindings,
                         std::span<const IterDomain> domains) {
  for (size_t m = 0; m < domains.size(); ++m) {
    if (recovery.is_whole(m)) continue;
    const bool used = std::any_of(bindings.begin(), bindings.end(),
                                  [&](const Expr& binding) { return uses_var(binding, domains[m].var); });
    return used ? fmt::format("the bindings do not determine loop {}", domains[m].var->name)
                : fmt::format("loop {} is in no binding", domains[m].var->name);
  }
  return {};
}

/// Parts of one number may be simplified to forms in which the number is not recognised. Their row-major
/// combination over the bindings' box restores it; if that determines all loops, the bindings do.
bool number_tells_all(std::span<const Expr> bindings, std::span<const IterDomain> domains,
                      const Expr& condition) {
  const Analyzer analyzer = analyzer_over(domains);
  Expr number = 0;
  for (const Expr& binding : bindings) {
    const Interval range = analyzer.bounds(binding);
    if (!range.bounded()) return false;
    number = number * Expr(range.max - range.min + 1) + (binding - Expr(range.min));
  }
  const std::vector<Expr> numbers{analyzer.simplify(number)};
  const std::vector<int64_t> extents{1};
  return check_iter_map(numbers, extents, domains, condition).injective;
}

/// Adds all bounds in the condition to the table; false if it does not understand one of them.
bool constrain_by(const Expr& condition, const Analyzer& analyzer, MarkTable& table) {
  // Smaller constraints come first: larger ones are built from them.
  struct Bound {
    std::pair<size_t, size_t> size;  // number of loops, number of nodes
    Expr sum;
    int64_t bound;
  };
  std::vector<Bound> bounds;
  bool all_understood = true;
  for_each_bound(condition, analyzer, [&](const Expr& sum, int64_t bound) {
    all_understood = all_understood && sum;
    if (!sum) return;
    size_t nodes = 0;
    walk_expr(sum, [&](const Expr&) { ++nodes; });
    bounds.push_back({{vars_of(sum).size(), nodes}, sum, bound});
  });
  std::stable_sort(bounds.begin(), bounds.end(),
                   [](const Bound& a, const Bound& b) { return a.size < b.size; });
  for (const auto& [size, sum, bound] : bounds) {
    const std::optional<PieceSum> pieces = table.parse(sum);
    if (!pieces || !table.constrain(*pieces, bound - pieces->base)) all_understood = false;
  }
  return all_understood;
}

/// The bindings over the table's marks, or why a binding is not separable.
tl::expected<std::vector<PieceSum>, std::string> separable_sums(std::span<const Expr> bindings,
                                                                MarkTable& table) {
  std::vector<PieceSum> sums;
  for (const Expr& binding : bindings) {
    std::optional<PieceSum> sum = table.parse(binding);
    if (!sum)
      return tl::unexpected(
          fmt::format("{} is not a sum of quasi-affine terms over the loops", to_string(binding)));
    sums.push_back(std::move(*sum));
  }
  for (size_t b = 0; b < sums.size(); ++b) {
    table.group(sums[b]);
    if (!sums[b].separable())
      return tl::unexpected(fmt::format("terms of {} overlap", to_string(bindings[b])));
  }
  return sums;
}

}  // namespace

std::optional<IterSum> as_iter_sum(const Expr& expr, std::span<const IterDomain> domains) {
  auto form = index_form(expr, domains, analyzer_over(domains));
  if (!form || !form->rest.is_point()) return std::nullopt;
  return IterSum{std::move(form->terms), form->rest.min};
}

IterMapCheck check_iter_map(std::span<const Expr> bindings, std::span<const int64_t> extents,
                            std::span<const IterDomain> loops, const Expr& predicate) {
  check_invariant(bindings.size() == extents.size(), "one extent for each binding");
  std::vector<IterDomain> domains(loops.begin(), loops.end());
  const Expr condition = narrow(predicate ? predicate : bool_imm(true), domains);
  const Analyzer analyzer = analyzer_over(domains);
  MarkTable table(domains, analyzer);
  IterMapCheck check;
  const bool all_understood = constrain_by(condition, analyzer, table);
  const auto separable = separable_sums(bindings, table);
  if (!separable) {
    check.reason = separable.error();
    return check;
  }
  const std::vector<PieceSum>& sums = *separable;
  Recovery recovery(table, domains.size());
  for (const PieceSum& sum : sums) recovery.learn(sum.pieces);
  if (!recovery.run()) {
    check.reason = missing_loop(recovery, bindings, domains);
    check.injective = bindings.size() > 1 && number_tells_all(bindings, domains, condition);
    return check;
  }
  check.injective = true;

  // One-to-one into the box, and with as many points as the box: onto.
  int64_t box = 1;
  for (size_t b = 0; b < sums.size(); ++b) {
    if (sums[b].min() < 0 || sums[b].max() >= extents[b]) {
      check.reason = fmt::format("{} leaves [0, {})", to_string(bindings[b]), extents[b]);
      return check;
    }
    if (__builtin_mul_overflow(box, extents[b], &box)) box = -1;
    if (box < 0) break;
  }
  const std::optional<int64_t> points = table.count_points();
  if (!all_understood || !points || box < 0) {
    check.reason = fmt::format("cannot analyse the predicate {}", to_string(condition));
    return check;
  }
  check.bijective = *points == box;
  if (!check.bijective) check.reason = fmt::format("{} of {} points are reached", *points, box);
  return check;
}

}  // namespace tunesmith
