// Slices of a register buffer: which elements an access touches, once the unrolled loops around it are
// expanded.
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

/// Loops above `stmt` and inside `site`, innermost first.
std::vector<Loop*> loops_between(const Stmt& site, const Stmt& stmt);

/// The slices that `index` touches over all iterations of those of `loops` that it uses; one for each
/// combination of iterations, the last loop in the list varying slowest, relative to the part of the index
/// that stands still. Nothing when a loop used is not unrolled or the index is not linear in it, the lanes
/// are not neighbours, or there are more than `limit` of them.
std::optional<std::vector<Slice>> slices_of(const Expr& index, std::span<Loop* const> loops, size_t limit);

/// Vector registers that an accumulating `store` needs for what it reads beside its accumulators in one step
/// of the reduction, with the unrolled ones of `loops` (innermost first) expanded: the operand of fewest
/// parts stays, the others pass through one more. 0 when it does not accumulate: what is read once passes
/// through.
int64_t operand_registers(const Store& store, std::span<Loop* const> loops, int64_t vector_bits);

/// Registers of `vector_bits` that hold these slices.
int64_t registers_for(std::span<const Slice> slices, DType element, int64_t vector_bits);

}  // namespace tunesmith
