// Slices of register buffers: the elements that an access touches after its unrolled loops are expanded.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "tunesmith/ir/program.h"

namespace tunesmith {

/// Elements [offset, offset + lanes).
struct Slice {
  int64_t offset = 0;
  int lanes = 1;
  bool operator==(const Slice&) const = default;
  bool overlaps(const Slice& other) const {
    return offset < other.offset + other.lanes && other.offset < offset + lanes;
  }
};

/// The loops above `stmt` and inside `site`, innermost first.
std::vector<Loop*> loops_between(const Stmt& site, const Stmt& stmt);

/// The slices that `index` touches, one for each combination of iterations of the `loops` that it uses (the
/// last loop varies slowest), relative to the loop-invariant part of the index. Nothing if such a loop is not
/// unrolled or the index not linear in it, if the lanes are not contiguous, or if there are more than `limit`
/// slices.
std::optional<std::vector<Slice>> slices_of(const Expr& index, std::span<Loop* const> loops, size_t limit);

/// The vector registers that an accumulating `store` needs for its operands other than accumulators in one
/// reduction step, with the unrolled ones of `loops` (innermost first) expanded: the operand of fewest
/// registers stays in them, all others share one more. 0 if the store does not accumulate, since an operand
/// that is read once needs no register.
int64_t operand_registers(const Store& store, std::span<Loop* const> loops, int64_t vector_bits);

/// The number of registers of `vector_bits` for these slices.
int64_t registers_for(std::span<const Slice> slices, DType element, int64_t vector_bits);

}  // namespace tunesmith
