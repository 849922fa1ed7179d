#include "affine/index_inverse.h"

#include <algorithm>

namespace tunesmith {
namespace {

int find_iter(const ExprNode* var, std::span<const IterVar> iters) {
  for (size_t i = 0; i < iters.size(); ++i) {
    if (iters[i].var.get() == var) return static_cast<int>(i);
  }
  return -1;
}

std::optional<IndexDigit> sum_digit(const IndexDigit& a, const IndexDigit& b, int64_t sign) {
  if (a.iter >= 0 && b.iter >= 0) return std::nullopt;
  IndexDigit sum = a.iter >= 0 ? a : b;
  if (a.iter < 0) sum.scale *= sign;
  const Interval right = sign > 0 ? b.offset : Interval{-b.offset.max, -b.offset.min};
  sum.offset = {a.offset.min + right.min, a.offset.max + right.max};
  return sum;
}

std::optional<IndexDigit> product_digit(IndexDigit digit, int64_t factor) {
  digit.scale *= factor;
  digit.offset = {digit.offset.min * factor, digit.offset.max * factor};
  if (factor < 0) std::swap(digit.offset.min, digit.offset.max);
  return digit;
}

std::optional<IndexDigit> part_digit(ExprKind kind, IndexDigit digit, int64_t divisor) {
  if (digit.iter < 0 || digit.scale != 1 || digit.offset.min != 0 || digit.offset.max != 0 || divisor <= 0)
    return std::nullopt;
  if (digit.modulus != 0 && digit.modulus % divisor != 0) return std::nullopt;
  if (kind == ExprKind::FloorDiv) {
    digit.lower *= divisor;
    digit.modulus /= divisor;
  } else {
    digit.modulus = divisor;
  }
  return digit;
}

/// A constraint on one digit of an iterator: iter // lower % modulus in [range.min, range.min + extent).
struct DigitRange {
  IndexDigit digit;
  DimRange range;
};

/// True when the digits, by falling weight, tell the iterator's value without a gap from its top down.
bool is_chain(std::span<const DigitRange> digits, int64_t extent) {
  for (size_t i = 0; i < digits.size(); ++i) {
    const IndexDigit& digit = digits[i].digit;
    if (i == 0) {
      if (digit.modulus != 0 && digit.lower * digit.modulus < extent) return false;
    } else if (digit.lower * digit.modulus != digits[i - 1].digit.lower) {
      return false;
    }
  }
  return !digits.empty();
}

void sort_digits(std::vector<DigitRange>& digits) {
  std::stable_sort(digits.begin(), digits.end(),
                   [](const DigitRange& a, const DigitRange& b) { return a.digit.lower > b.digit.lower; });
}

DimRange solve_linear(const IndexDigit& digit, const DimRange& range) {
  const int64_t reach = range.extent - 1 + digit.offset.max - digit.offset.min;
  if (digit.scale == -1) return {(digit.offset.min - (range.extent - 1)) - range.min, reach + 1};
  const Expr low = range.min - digit.offset.max;
  if (digit.scale == 1) return {low, reach + 1};
  return {floordiv(low + (digit.scale - 1), digit.scale), reach / digit.scale + 1};
}

/// From the top digit down, as long as digits stand still.
std::optional<DimRange> solve_chain(std::vector<DigitRange>& digits, int64_t extent) {
  sort_digits(digits);
  if (!is_chain(digits, extent)) return std::nullopt;
  DimRange result{0, 1};
  for (const auto& [digit, range] : digits) {
    result.min = result.min + range.min * digit.lower;
    result.extent = digit.lower * range.extent;
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

std::optional<IndexDigit> index_digit(const Expr& index, std::span<const IterVar> iters,
                                      const Analyzer& analyzer) {
  IndexDigit digit;
  switch (index.kind()) {
    case ExprKind::Var: {
      digit.iter = find_iter(index.get(), iters);
      if (digit.iter >= 0) return digit;
      digit.offset = analyzer.bounds(index);
      if (!digit.offset.bounded()) return std::nullopt;
      return digit;
    }
    case ExprKind::IntImm: {
      const int64_t value = index.as<IntImm>()->value;
      digit.offset = {value, value};
      return digit;
    }
    case ExprKind::Add:
    case ExprKind::Sub: {
      const auto a = index_digit(index.arg(0), iters, analyzer);
      const auto b = index_digit(index.arg(1), iters, analyzer);
      if (!a || !b) return std::nullopt;
      return sum_digit(*a, *b, index.is(ExprKind::Add) ? 1 : -1);
    }
    case ExprKind::Mul:
    case ExprKind::FloorDiv:
    case ExprKind::FloorMod: {
      int64_t factor = 0;
      if (!as_const_int(index.arg(1), &factor)) return std::nullopt;
      const auto part = index_digit(index.arg(0), iters, analyzer);
      if (!part) return std::nullopt;
      return index.is(ExprKind::Mul) ? product_digit(*part, factor) : part_digit(index.kind(), *part, factor);
    }
    default:
      return std::nullopt;
  }
}

std::vector<DimRange> solve_iters(std::span<const IterVar> iters, std::span<const Expr> indices,
                                  const Region& region, const Analyzer& analyzer) {
  std::vector<std::optional<DimRange>> linear(iters.size());
  std::vector<std::vector<DigitRange>> digits(iters.size());
  for (size_t d = 0; d < indices.size(); ++d) {
    const auto digit = index_digit(indices[d], iters, analyzer);
    if (!digit || digit->iter < 0) continue;
    const auto iter = static_cast<size_t>(digit->iter);
    if (digit->is_linear()) {
      if (digit->scale >= -1 && digit->scale != 0 && !linear[iter])
        linear[iter] = solve_linear(*digit, region[d]);
    } else if (digit->scale == 1 && digit->offset.min == 0 && digit->offset.max == 0) {
      digits[iter].push_back({*digit, region[d]});
    }
  }
  std::vector<DimRange> ranges;
  ranges.reserve(iters.size());
  for (size_t i = 0; i < iters.size(); ++i) {
    std::optional<DimRange> range = linear[i];
    if (!range && !digits[i].empty()) range = solve_chain(digits[i], iters[i].extent);
    ranges.push_back(range ? clip(*range, iters[i].extent, analyzer) : DimRange{0, iters[i].extent});
  }
  return ranges;
}

std::optional<std::vector<Expr>> invert_indices(std::span<const IterVar> iters, std::span<const Expr> indices,
                                                std::span<const Expr> values) {
  std::vector<Expr> result(iters.size());
  std::vector<std::vector<DigitRange>> digits(iters.size());
  const Analyzer analyzer;
  for (size_t d = 0; d < indices.size(); ++d) {
    const auto digit = index_digit(indices[d], iters, analyzer);
    if (!digit) return std::nullopt;
    if (digit->iter < 0) continue;
    const auto iter = static_cast<size_t>(digit->iter);
    if (digit->is_linear()) {
      if (result[iter] || (digit->scale != 1 && digit->scale != -1)) return std::nullopt;
      result[iter] = digit->scale == 1 ? values[d] - digit->offset.min : digit->offset.min - values[d];
    } else {
      if (digit->scale != 1 || digit->offset.min != 0) return std::nullopt;
      digits[iter].push_back({*digit, {values[d], 1}});
    }
  }
  for (size_t i = 0; i < iters.size(); ++i) {
    if (!digits[i].empty()) {
      sort_digits(digits[i]);
      if (result[i] || !is_chain(digits[i], iters[i].extent) || digits[i].back().digit.lower != 1)
        return std::nullopt;
      Expr sum = 0;
      for (const auto& [digit, value] : digits[i]) sum = sum + value.min * digit.lower;
      result[i] = analyzer.simplify(sum);
    }
    if (result[i]) continue;
    if (iters[i].extent != 1) return std::nullopt;
    result[i] = 0;
  }
  return result;
}

}  // namespace tunesmith
