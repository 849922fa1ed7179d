// Saturating interval arithmetic: a result at or beyond Interval::kMin / kMax is unbounded on that side.
#pragma once

#include <algorithm>
#include <cstdint>

#include "tunesmith/affine/simplify.h"
#include "tunesmith/ir/fold.h"

namespace tunesmith::affine {

/// The product, clamped to Interval::kMin / kMax, which represent overflow in this folder.
inline int64_t saturating_mul(int64_t a, int64_t b) {
  int64_t product = 0;
  if (!__builtin_mul_overflow(a, b, &product)) return std::clamp(product, Interval::kMin, Interval::kMax);
  return (a < 0) == (b < 0) ? Interval::kMax : Interval::kMin;
}

/// Is `value` in the range of exact arithmetic, so that sums of two such values do not overflow?
inline bool representable(int64_t value) { return value > Interval::kMin && value < Interval::kMax; }

inline Interval point(int64_t value) { return {value, value}; }

inline Interval operator+(const Interval& a, const Interval& b) {
  const bool low = a.min <= Interval::kMin || b.min <= Interval::kMin;
  const bool high = a.max >= Interval::kMax || b.max >= Interval::kMax;
  return {low ? Interval::kMin : std::max(Interval::kMin, a.min + b.min),
          high ? Interval::kMax : std::min(Interval::kMax, a.max + b.max)};
}

inline Interval operator*(const Interval& a, int64_t factor) {
  if (factor == 0) return point(0);
  const int64_t x = saturating_mul(a.min, factor);
  const int64_t y = saturating_mul(a.max, factor);
  // A finite bound stays finite or saturates; an infinite one must not shrink under a small negative factor.
  if (factor > 0)
    return {a.min <= Interval::kMin ? Interval::kMin : x, a.max >= Interval::kMax ? Interval::kMax : y};
  return {a.max >= Interval::kMax ? Interval::kMin : y, a.min <= Interval::kMin ? Interval::kMax : x};
}

inline Interval operator*(const Interval& a, const Interval& b) {
  if (!a.bounded() || !b.bounded()) return {};
  const auto [low, high] = std::minmax({saturating_mul(a.min, b.min), saturating_mul(a.min, b.max),
                                        saturating_mul(a.max, b.min), saturating_mul(a.max, b.max)});
  return {low, high};
}

inline Interval floor_div(const Interval& a, int64_t divisor) {
  return {a.min <= Interval::kMin ? Interval::kMin : floor_divide(a.min, divisor),
          a.max >= Interval::kMax ? Interval::kMax : floor_divide(a.max, divisor)};
}

/// Do all values in `a` have the same quotient by `divisor`?
inline bool one_quotient(const Interval& a, int64_t divisor, int64_t* quotient) {
  if (!a.bounded()) return false;
  *quotient = floor_divide(a.min, divisor);
  return floor_divide(a.max, divisor) == *quotient;
}

inline Interval floor_mod(const Interval& a, int64_t divisor) {
  int64_t quotient = 0;
  if (!one_quotient(a, divisor, &quotient)) return {0, divisor - 1};
  return {a.min - quotient * divisor, a.max - quotient * divisor};
}

inline Interval hull(const Interval& a, const Interval& b) {
  return {std::min(a.min, b.min), std::max(a.max, b.max)};
}
inline Interval intersect(const Interval& a, const Interval& b) {
  return {std::max(a.min, b.min), std::min(a.max, b.max)};
}

}  // namespace tunesmith::affine
