// Index arithmetic in the emitter: sums of coefficient * LLVM value + constant, so that accesses that differ
// by a constant share a pointer.
#pragma once

#include <cstdint>
#include <optional>

#include <llvm/ADT/SmallVector.h>

#include "tunesmith/affine/simplify.h"

namespace tunesmith::llvm_target {

struct Linear {
  struct Term {
    int64_t coefficient;
    uint32_t atom;  // an index from ScopedValues
    bool operator==(const Term&) const = default;
  };
  llvm::SmallVector<Term, 4> terms;  // by increasing atom, without zero coefficients
  int64_t constant = 0;

  Linear() = default;
  explicit Linear(int64_t value) : constant(value) {}
  bool is_constant() const { return terms.empty(); }
  std::optional<int64_t> known() const { return is_constant() ? std::optional(constant) : std::nullopt; }
};

/// a + factor * b
Linear add_scaled(const Linear& a, const Linear& b, int64_t factor);
Linear scaled(const Linear& a, int64_t factor);

/// Rounding towards minus infinity; `divisor` > 0.
int64_t floor_quotient(int64_t value, int64_t divisor);
int64_t floor_remainder(int64_t value, int64_t divisor);

/// Interval arithmetic that saturates at "unbounded".
Interval add(Interval a, Interval b);
Interval scale(Interval a, int64_t factor);

}  // namespace tunesmith::llvm_target
