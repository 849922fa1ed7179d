#include "tunesmith/affine/region.h"

#include <algorithm>

#include "affine/interval.h"
#include "ir/reads_memory.h"
#include "tunesmith/affine/linear_form.h"
#include "tunesmith/support/error.h"

namespace tunesmith {
namespace {

using affine::operator+;
using affine::operator*;
using affine::representable;

std::optional<DimRange> whole(const Interval& range) {
  if (!range.bounded()) return std::nullopt;
  return DimRange{range.min, range.max - range.min + 1};
}

/// Covers [a, a + extent_a) and [b, b + extent_b) with b - a in `shift`; `either` is a lower bound of both a
/// and b, for a shift of unknown sign.
template <typename Either>
DimRange hull_of(const DimRange& a, const DimRange& b, const Interval& shift, const Either& either) {
  const int64_t to_b = shift.max + b.extent;
  const int64_t to_a = a.extent - shift.min;
  if (shift.min >= 0) return {a.min, std::max(a.extent, to_b)};
  if (shift.max <= 0) return {b.min, std::max(b.extent, to_a)};
  return {either(), std::max({a.extent, b.extent, to_a, to_b})};
}

class Relaxer {
 public:
  Relaxer(std::span<const Var> moving, const Analyzer& analyzer) : moving_(moving), analyzer_(analyzer) {}

  std::optional<DimRange> relax(const Expr& expr) const {
    auto [moving, standing, mixed] = parts_of(analyzer_.linear(expr), moving_);
    Interval span = bounds_of(moving);
    for (const auto& [coefficient, atom] : mixed) {
      const std::optional<DimRange> range = relax_atom(atom);
      if (!range) return whole(analyzer_.bounds(expr));
      standing.terms.push_back({coefficient, range->min});
      span = span + Interval{0, range->extent - 1} * coefficient;
    }
    if (!span.bounded()) return std::nullopt;

    standing.constant += span.min;
    DimRange result{standing.to_expr(), span.max - span.min + 1};
    if (mixed.empty()) return result;
    // Terms with both kinds of variables are bounded one by one; the bound of the whole may be tighter.
    const std::optional<DimRange> absolute = whole(analyzer_.bounds(expr));
    if (absolute && absolute->extent <= result.extent) return absolute;
    result.min = analyzer_.simplify(result.min);
    return result;
  }

 private:
  /// Bounds a form from the analyzer: its variables are independent, so no bound of the whole is needed.
  Interval bounds_of(const LinearForm& form) const {
    Interval sum = affine::point(form.constant);
    for (const auto& [coefficient, atom] : form.terms) {
      if (!atom.is(ExprKind::Var) && form.terms.size() > 1) return analyzer_.bounds(form.to_expr());
      sum = sum + analyzer_.bounds(atom) * coefficient;
    }
    return sum;
  }

  std::optional<DimRange> relax_atom(const Expr& atom) const {
    const auto divisor = [&] {
      int64_t value = 0;
      return as_const_int(atom.arg(1), &value) && value > 0 && representable(value) ? value : 0;
    };
    switch (atom.kind()) {
      case ExprKind::FloorDiv:
      case ExprKind::FloorMod: {
        const int64_t d = divisor();
        const std::optional<DimRange> x = d != 0 ? relax(atom.arg(0)) : std::nullopt;
        if (!x) break;
        // The offset of the range's begin within a period of d determines how many periods it meets.
        const Expr start = floormod(x->min, int_imm(d));
        const int64_t last = analyzer_.bounds(start).max + x->extent - 1;
        if (atom.is(ExprKind::FloorDiv)) return DimRange{floordiv(x->min, int_imm(d)), last / d + 1};
        return last < d ? DimRange{start, x->extent} : DimRange{0, d};
      }
      case ExprKind::Min:
      case ExprKind::Max: {
        const auto a = relax(atom.arg(0));
        const auto b = relax(atom.arg(1));
        if (!a || !b) break;
        // The minimum moves no further than the operand that moves more.
        return DimRange{binary(atom.kind(), a->min, b->min), std::max(a->extent, b->extent)};
      }
      case ExprKind::Select: {
        const auto a = relax(atom.arg(1));
        const auto b = relax(atom.arg(2));
        if (!a || !b) break;
        if (!uses_any(atom.arg(0), moving_) && !reads_memory(atom.arg(0)))
          return DimRange{select(atom.arg(0), a->min, b->min), std::max(a->extent, b->extent)};
        const Interval shift = analyzer_.bounds(b->min - a->min);
        if (!shift.bounded()) break;
        return hull_of(*a, *b, shift, [&] { return min(a->min, b->min); });
      }
      default:
        break;
    }
    return whole(analyzer_.bounds(atom));
  }

  std::span<const Var> moving_;
  const Analyzer& analyzer_;
};

/// Accesses stay inside the buffer, so that a box of the buffer's size is the buffer.
DimRange within(const DimRange& range, int64_t size) {
  return range.extent >= size ? DimRange{0, size} : range;
}

}  // namespace

std::optional<DimRange> relax(const Expr& index, std::span<const Var> moving, const Analyzer& analyzer) {
  return Relaxer(moving, analyzer).relax(index);
}

Region relax_access(const Buffer& buffer, std::span<const Expr> indices, std::span<const Var> moving,
                    const Analyzer& analyzer) {
  check_invariant(indices.size() == buffer->shape.size(), "one index for each dimension");
  Region region;
  region.reserve(indices.size());
  for (size_t d = 0; d < indices.size(); ++d) {
    const auto range = relax(indices[d], moving, analyzer);
    region.push_back(range ? within(*range, buffer->shape[d]) : DimRange{0, buffer->shape[d]});
  }
  return region;
}

Region unite(const Region& a, const Region& b, const Buffer& buffer, const Analyzer& analyzer) {
  check_invariant(a.size() == b.size() && a.size() == buffer->shape.size(), "regions of the buffer's rank");
  Region region;
  region.reserve(a.size());
  for (size_t d = 0; d < a.size(); ++d) {
    const int64_t size = buffer->shape[d];
    const Interval shift = analyzer.bounds(b[d].min - a[d].min);
    if (!shift.bounded()) {
      region.push_back({0, size});
      continue;
    }
    DimRange box = hull_of(a[d], b[d], shift, [&] { return analyzer.simplify(min(a[d].min, b[d].min)); });
    if (!shift.is_point()) {
      const Interval of_a = analyzer.bounds(a[d].min);
      const Interval of_b = analyzer.bounds(b[d].min);
      const Interval all{std::min(of_a.min, of_b.min),
                         std::max(of_a.max + a[d].extent - 1, of_b.max + b[d].extent - 1)};
      if (all.bounded() && all.max - all.min + 1 <= box.extent) box = *whole(all);
    }
    region.push_back(within(box, size));
  }
  return region;
}

bool covers(const Region& outer, const Region& inner, const Analyzer& analyzer) {
  check_invariant(outer.size() == inner.size(), "regions of one rank");
  for (size_t d = 0; d < outer.size(); ++d) {
    const Interval shift = analyzer.bounds(inner[d].min - outer[d].min);
    if (shift.min < 0 || shift.max > outer[d].extent - inner[d].extent) return false;
  }
  return true;
}

}  // namespace tunesmith
