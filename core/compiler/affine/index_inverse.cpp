#include "affine/index_inverse.h"

#include <algorithm>

#include "affine/interval.h"

namespace tunesmith {
namespace {

using affine::operator+;
using affine::operator*;

/// What an index determines of a variable:  var // lower % extent  is in `range`.
struct Digit {
  int64_t lower = 1;
  int64_t extent = 1;
  DimRange range;
};

/// The split `var // lower % modulus` (0: no modulus) that the atom is, for one of `domains`.
std::optional<IterSplit> as_split(const Expr& atom, std::span<const IterDomain> domains, int64_t scale) {
  Expr core = atom;
  int64_t modulus = 0;
  int64_t lower = 1;
  if (core.is(ExprKind::FloorMod)) {
    if (!as_const_int(core.arg(1), &modulus) || modulus <= 0) return std::nullopt;
    core = Expr(core.arg(0));
  }
  if (core.is(ExprKind::FloorDiv)) {
    if (!as_const_int(core.arg(1), &lower) || lower <= 0) return std::nullopt;
    core = Expr(core.arg(0));
  }
  for (const auto& [var, extent] : domains) {
    if (!core.same_as(var)) continue;
    const int64_t values = (extent + lower - 1) / lower;
    return IterSplit{var, lower, modulus != 0 ? std::min(modulus, values) : values, scale};
  }
  return std::nullopt;
}

bool is_whole(const IterSplit& term, int64_t extent) {
  return term.lower_factor == 1 && term.extent >= extent;
}

/// The range of a whole variable for which  scale * var + rest  meets `range`.
DimRange solve_linear(int64_t scale, const Interval& rest, const DimRange& range) {
  const int64_t reach = range.extent - 1 + rest.max - rest.min;
  if (scale == -1) return {(rest.min - (range.extent - 1)) - range.min, reach + 1};
  const Expr low = range.min - rest.max;
  if (scale == 1) return {low, reach + 1};
  return {floordiv(low + (scale - 1), scale), reach / scale + 1};
}

/// Does the sum of the digits determine each digit, as in a positional number system?
bool is_positional(const IndexForm& form) {
  int64_t below = 1;
  for (size_t n = form.terms.size(); n-- > 0;) {
    if (form.terms[n].scale != below) return false;
    below *= form.terms[n].extent;
  }
  return true;
}

/// Adds what the index determines of each variable if it is in `range`. False if it does not determine all.
bool add_digits(const IndexForm& form, std::span<const IterDomain> domains, const DimRange& range,
                std::vector<std::vector<Digit>>& digits) {
  const auto place = [&](const IterSplit& term) {
    return static_cast<size_t>(std::ranges::find(domains, term.source, &IterDomain::var) - domains.begin());
  };
  if (form.terms.empty()) return true;
  const IterSplit& first = form.terms.front();
  const size_t at = place(first);
  if (form.terms.size() == 1 && is_whole(first, domains[at].extent)) {
    if (first.scale < -1) return false;
    digits[at].push_back({1, domains[at].extent, solve_linear(first.scale, form.rest, range)});
    return form.rest.is_point() && (first.scale == 1 || first.scale == -1);
  }
  const bool one_value = form.terms.size() == 1 || range.extent == 1;
  if (!form.rest.is_point() || !is_positional(form) || !one_value) return false;
  for (const IterSplit& term : form.terms) {
    Expr value = floordiv(range.min - form.rest.min, term.scale);
    if (&term != &first) value = floormod(value, term.extent);
    digits[place(term)].push_back({term.lower_factor, term.extent, {value, range.extent}});
  }
  return true;
}

/// Combines digits from the top down, while digits are constant. Nothing if the digits, by descending weight,
/// leave a gap.
std::optional<DimRange> value_of(std::vector<Digit>& digits, int64_t extent) {
  std::stable_sort(digits.begin(), digits.end(),
                   [](const Digit& a, const Digit& b) { return a.lower > b.lower; });
  if (digits.empty() || digits.front().lower * digits.front().extent < extent) return std::nullopt;
  for (size_t i = 1; i < digits.size(); ++i) {
    if (digits[i].lower * digits[i].extent != digits[i - 1].lower) return std::nullopt;
  }
  DimRange result{0, 1};
  for (const auto& [lower, values, range] : digits) {
    result.min = result.min + range.min * lower;
    result.extent = lower * range.extent;
    if (range.extent > 1) break;
  }
  return result;
}

DimRange clip(DimRange range, int64_t extent, const Analyzer& analyzer) {
  if (range.extent >= extent) return {0, extent};
  range.min = analyzer.simplify(range.min);
  int64_t low = 0;
  if (!as_const_int(range.min, &low)) return range;
  const int64_t high = std::min(low + range.extent, extent);
  low = std::max<int64_t>(low, 0);
  return {low, std::max<int64_t>(high - low, 1)};
}

}  // namespace

std::optional<IndexForm> index_form(const Expr& index, std::span<const IterDomain> domains,
                                    const Analyzer& analyzer) {
  if (const auto split = as_split(index, domains, 1)) return IndexForm{{*split}, {0, 0}};
  const LinearForm linear = analyzer.linear(index);
  IndexForm form{{}, affine::point(linear.constant)};
  for (const auto& [coefficient, atom] : linear.terms) {
    if (const auto split = as_split(atom, domains, coefficient)) {
      form.terms.push_back(*split);
      continue;
    }
    const bool foreign =
        std::ranges::none_of(domains, [&](const IterDomain& domain) { return uses_var(atom, domain.var); });
    form.rest = form.rest + analyzer.bounds(atom) * coefficient;
    if (!foreign || !form.rest.bounded()) return std::nullopt;
  }
  std::stable_sort(form.terms.begin(), form.terms.end(),
                   [](const IterSplit& a, const IterSplit& b) { return a.scale > b.scale; });
  return form;
}

std::vector<DimRange> solve_iters(std::span<const IterDomain> domains, std::span<const Expr> indices,
                                  const Region& region, const Analyzer& analyzer) {
  std::vector<std::vector<Digit>> digits(domains.size());
  for (size_t d = 0; d < indices.size(); ++d) {
    if (const auto form = index_form(indices[d], domains, analyzer))
      add_digits(*form, domains, region[d], digits);
  }
  std::vector<DimRange> ranges;
  ranges.reserve(domains.size());
  for (size_t i = 0; i < domains.size(); ++i) {
    const int64_t extent = domains[i].extent;
    // An index that is just the variable determines it.
    const auto whole = std::ranges::find_if(
        digits[i], [&](const Digit& digit) { return digit.lower == 1 && digit.extent >= extent; });
    if (whole != digits[i].end()) digits[i] = {*whole};
    const std::optional<DimRange> range = value_of(digits[i], extent);
    ranges.push_back(range ? clip(*range, extent, analyzer) : DimRange{0, extent});
  }
  return ranges;
}

std::optional<std::vector<Expr>> invert(std::span<const IterDomain> domains, std::span<const Expr> indices,
                                        std::span<const Expr> values) {
  std::vector<std::vector<Digit>> digits(domains.size());
  const Analyzer analyzer;
  for (size_t d = 0; d < indices.size(); ++d) {
    const auto form = index_form(indices[d], domains, analyzer);
    if (!form || !add_digits(*form, domains, {values[d], 1}, digits)) return std::nullopt;
  }
  std::vector<Expr> result;
  for (size_t i = 0; i < domains.size(); ++i) {
    if (digits[i].size() != 1 && domains[i].extent == 1) {
      result.emplace_back(0);
      continue;
    }
    const std::optional<DimRange> value = value_of(digits[i], domains[i].extent);
    if (!value || value->extent != 1) return std::nullopt;
    result.push_back(digits[i].size() == 1 ? value->min : analyzer.simplify(value->min));
  }
  return result;
}

}  // namespace tunesmith
