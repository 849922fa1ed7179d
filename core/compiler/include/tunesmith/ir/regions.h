// The reads and writes of blocks, derived from their bodies.
#pragma once

#include <span>
#include <vector>

#include "tunesmith/ir/program.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// A buffer and indices over the block's iteration variables and the loops inside the block.
struct Access {
  Buffer buffer;
  std::vector<Expr> indices;
};

bool equal_indices(std::span<const Expr> a, std::span<const Expr> b);
/// Is it the access of `buffer` at `indices`?
bool is_at(const Access& access, const Buffer& buffer, std::span<const Expr> indices);

/// Does one of `accesses` access `buffer`?
bool touches(std::span<const Access> accesses, const Buffer& buffer);

/// Does the expression load from `buffer` anywhere?
bool loads_from(const Expr& expr, const Buffer& buffer);
/// Is the expression the unmasked load of the element that `store` writes (an accumulator)?
bool is_own_element(const Expr& expr, const Store& store);

/// The store if the block's body is a single store, else null.
const Store* body_store(const Block& block);

/// Loads in the body, then in the init, in text order, without structural duplicates. The accumulator (the
/// load of the stored element) counts as a read only if the block has no init. Iteration variables of inner
/// blocks are replaced by their bindings.
std::vector<Access> reads_of(const Block& block);
/// Stores in the body, in text order, without structural duplicates.
std::vector<Access> writes_of(const Block& block);

/// Blocks that write `buffer`, in text order.
std::vector<Block*> writers_of(const Program& program, const Buffer& buffer);
/// Blocks that read `buffer`, in text order.
std::vector<Block*> readers_of(const Program& program, const Buffer& buffer);
/// Blocks that write what `block` reads / read what `block` writes, in text order, without duplicates.
std::vector<Block*> producers_of(const Program& program, const Block& block);
std::vector<Block*> consumers_of(const Program& program, const Block& block);

/// The form of a reduction block: element = op(element, term).
struct ReductionPattern {
  ExprKind op;          // Add, Mul, Min or Max
  const Store* init;    // the block's init, which stores the identity; null after decompose_reduction
  const Store* update;  // the block's body
  Expr term;            // the combined value, without the accumulator
};
/// Fills `pattern` if the block's body is a single store of that form; else returns false.
bool match_reduction(const Block& block, ReductionPattern* pattern);
/// The identity of Add (0), Mul (1), Min (+inf or largest), Max (-inf or smallest) in `type`.
Expr reduction_identity(ExprKind op, DType type);

}  // namespace tunesmith
#pragma GCC visibility pop
