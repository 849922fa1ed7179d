#include "linear.h"

#include <algorithm>

namespace tunesmith::llvm_target {

namespace {

int64_t saturate(int64_t value) { return std::clamp(value, Interval::kMin, Interval::kMax); }

int64_t product(int64_t a, int64_t b) {
  int64_t result = 0;
  if (!__builtin_mul_overflow(a, b, &result)) return saturate(result);
  return (a < 0) == (b < 0) ? Interval::kMax : Interval::kMin;
}

}  // namespace

Linear add_scaled(const Linear& a, const Linear& b, int64_t factor) {
  Linear sum;
  sum.constant = a.constant + factor * b.constant;
  const auto* left = a.terms.begin();
  const auto* right = b.terms.begin();
  while (left != a.terms.end() || right != b.terms.end()) {
    if (right == b.terms.end() || (left != a.terms.end() && left->atom < right->atom)) {
      sum.terms.push_back(*left++);
      continue;
    }
    Linear::Term term{factor * right->coefficient, right->atom};
    if (left != a.terms.end() && left->atom == right->atom) term.coefficient += (left++)->coefficient;
    ++right;
    if (term.coefficient != 0) sum.terms.push_back(term);
  }
  return sum;
}

Linear scaled(const Linear& a, int64_t factor) { return add_scaled(Linear(), a, factor); }

int64_t floor_quotient(int64_t value, int64_t divisor) {
  const int64_t quotient = value / divisor;
  return value % divisor < 0 ? quotient - 1 : quotient;
}

int64_t floor_remainder(int64_t value, int64_t divisor) {
  const int64_t remainder = value % divisor;
  return remainder < 0 ? remainder + divisor : remainder;
}

// Bounds are within a quarter of the type's range, so that a sum of two does not overflow.
Interval add(Interval a, Interval b) {
  return {a.min <= Interval::kMin || b.min <= Interval::kMin ? Interval::kMin : saturate(a.min + b.min),
          a.max >= Interval::kMax || b.max >= Interval::kMax ? Interval::kMax : saturate(a.max + b.max)};
}

Interval scale(Interval a, int64_t factor) {
  const auto times = [&](int64_t value) -> int64_t {
    if (value <= Interval::kMin) return factor > 0 ? Interval::kMin : Interval::kMax;
    if (value >= Interval::kMax) return factor > 0 ? Interval::kMax : Interval::kMin;
    return product(value, factor);
  };
  if (factor == 0) return {0, 0};
  return factor > 0 ? Interval{times(a.min), times(a.max)} : Interval{times(a.max), times(a.min)};
}

}  // namespace tunesmith::llvm_target
