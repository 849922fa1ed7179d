// Queries about programs: walks over views of programs, and the kernel's analyses of blocks. Results describe
// the current block.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "tunesmith/stable/program.h"

namespace tunesmith {
inline namespace stable {

// ---- Walks ----

/// Calls `visit(const Stmt&)` for the statement and all below it, parents first.
template <typename Visit>
void walk(const Stmt& stmt, Visit&& visit) {
  visit(stmt);
  for (const Pointer<Stmt>& child : stmt.children()) walk(*child, visit);
}

/// The first statement of one sort at or under `root`, or null.
template <typename T>
Pointer<T> find_first(const Stmt& root) {
  if (const Pointer<T> found = root.as<T>()) return found;
  for (const Pointer<Stmt>& child : root.children()) {
    if (const Pointer<T> found = find_first<T>(*child)) return found;
  }
  return nullptr;
}
template <typename T, typename Test>
Pointer<T> find_first(const Stmt& root, const Test& test) {
  if (const Pointer<T> found = root.as<T>(); found && test(*found)) return found;
  for (const Pointer<Stmt>& child : root.children()) {
    if (const Pointer<T> found = find_first<T>(*child, test)) return found;
  }
  return nullptr;
}

/// True if `test(const Expr&)` is true for `expr` or a part of it.
template <typename Test>
bool any_of_expr(const Expr& expr, const Test& test) {
  return test(expr) ||
         std::ranges::any_of(expr.args(), [&](const Expr& arg) { return any_of_expr(arg, test); });
}

/// True if `test(const Expr&)` is true for any expression in `stmt` or under it.
template <typename Test>
bool any_of_exprs(const Stmt& stmt, const Test& test) {
  std::vector<Expr> here;
  if (const auto loop = stmt.as<Loop>()) here = {loop->min(), loop->extent()};
  if (const auto block = stmt.as<Block>()) {
    here = {block->predicate()};
    for (const IterVar& iter : block->iters()) here.push_back(iter.binding);
  }
  if (const auto store = stmt.as<Store>()) {
    here = store->indices();
    here.push_back(store->value());
    here.push_back(store->mask());
  }
  if (std::ranges::any_of(here, [&](const Expr& expr) { return expr && any_of_expr(expr, test); }))
    return true;
  return std::ranges::any_of(stmt.children(),
                             [&](const Pointer<Stmt>& child) { return any_of_exprs(*child, test); });
}

/// Enclosing loops from the outermost to the innermost, up to the nearest enclosing block or the root.
inline std::vector<Pointer<Loop>> loops_above(const Stmt& stmt) {
  std::vector<Pointer<Loop>> loops;
  for (Pointer<Stmt> at = stmt.parent; at && at->kind != StmtKind::Block; at = at->parent) {
    if (const auto loop = at->as<Loop>()) loops.push_back(loop);
  }
  std::ranges::reverse(loops);
  return loops;
}
/// The nearest enclosing block, or null.
inline Pointer<Block> enclosing_block(const Stmt& stmt) {
  for (Pointer<Stmt> at = stmt.parent; at; at = at->parent) {
    if (const auto block = at->as<Block>()) return block;
  }
  return nullptr;
}
/// True if `ancestor` is `stmt` or contains it.
inline bool is_ancestor(const Stmt& ancestor, const Stmt& stmt) {
  for (Pointer<Stmt> at = stmt.pointer(); at; at = at->parent) {
    if (at == ancestor.pointer()) return true;
  }
  return false;
}

// ---- The kernel's analyses ----

namespace detail {

inline bool ask(const Block& block, uint32_t question) {
  uint32_t answer = 0;
  check(tables.program->ask(block.snapshot().program, static_cast<uint32_t>(block.id), question, &answer));
  return answer != 0;
}

/// All ids that `list(ids, capacity, count)` gives.
template <typename List>
std::vector<uint32_t> all_of(const List& list) {
  std::vector<uint32_t> ids(16);
  uint64_t count = 0;
  check(list(ids.data(), ids.size(), &count));
  const bool complete = count <= ids.size();
  ids.resize(count);
  if (!complete) check(list(ids.data(), ids.size(), &count));
  return ids;
}

}  // namespace detail

/// True if every iterator is bound to a different loop variable or to a constant, as before any
/// transformation.
inline bool is_trivially_bound(const Block& block) {
  return detail::ask(block, TUNESMITH_QUESTION_TRIVIALLY_BOUND);
}
/// True for a reduction that reuses its inputs, so that tiling pays.
inline bool needs_tiling(const Block& block) { return detail::ask(block, TUNESMITH_QUESTION_NEEDS_TILING); }
/// True if each iteration stores one element and all iterators are spatial.
inline bool is_elementwise(const Block& block) { return detail::ask(block, TUNESMITH_QUESTION_ELEMENTWISE); }
/// Does the block write an output of its program?
inline bool writes_output(const Program& /*program*/, const Block& block) {
  return detail::ask(block, TUNESMITH_QUESTION_WRITES_OUTPUT);
}

/// The products of the extents of the spatial and of the reduction iterators.
struct IterationCount {
  int64_t spatial = 1;
  int64_t reduction = 1;
};
inline IterationCount iteration_count(const Block& block) {
  IterationCount count;
  detail::check(detail::tables.program->iterations(block.snapshot().program, static_cast<uint32_t>(block.id),
                                                   &count.spatial, &count.reduction));
  return count;
}

/// The kinds of iterators that a loop drives.
struct LoopUse {
  explicit LoopUse(uint32_t kinds)
      : spatial((kinds & TUNESMITH_ITERATOR_KIND_SPATIAL) != 0),
        reduction((kinds & TUNESMITH_ITERATOR_KIND_REDUCTION) != 0),
        opaque((kinds & TUNESMITH_ITERATOR_KIND_OPAQUE) != 0) {}
  bool spatial;
  bool reduction;
  bool opaque;
};

namespace detail {
inline LoopUse use_of(const tunesmith_program* program, uint32_t loop, uint32_t block) {
  uint32_t kinds = 0;
  check(tables.program->loop_use(program, loop, block, &kinds));
  return LoopUse(kinds);
}
}  // namespace detail

/// The kinds over all blocks under the loop.
inline LoopUse use_of(const Loop& loop) {
  return detail::use_of(loop.snapshot().program, static_cast<uint32_t>(loop.id), TUNESMITH_NONE);
}
/// The kinds in one block.
inline LoopUse use_of(const Loop& loop, const Block& block) {
  return detail::use_of(loop.snapshot().program, static_cast<uint32_t>(loop.id),
                        static_cast<uint32_t>(block.id));
}

/// The stride of the block's store along the loop, in elements: 1 along the contiguous axis, 0 if it does not
/// depend on the loop.
inline int64_t store_stride(const Block& block, const Loop& loop) {
  int64_t stride = 0;
  detail::check(detail::tables.program->store_stride(
      block.snapshot().program, static_cast<uint32_t>(block.id), static_cast<uint32_t>(loop.id), &stride));
  return stride;
}

namespace detail {
inline std::vector<Pointer<Block>> neighbours(const Program& program, const Block& block, uint32_t side) {
  std::vector<Pointer<Block>> found;
  const auto list = [&](uint32_t* ids, uint64_t capacity, uint64_t* count) {
    return tables.program->neighbours(block.snapshot().program, static_cast<uint32_t>(block.id), side, ids,
                                      capacity, count);
  };
  for (const uint32_t id : all_of(list)) found.push_back(program.find_block(BlockId{id}));
  return found;
}
}  // namespace detail

/// Blocks that write what `block` reads / read what `block` writes, in text order.
inline std::vector<Pointer<Block>> producers_of(const Program& program, const Block& block) {
  return detail::neighbours(program, block, TUNESMITH_SIDE_PRODUCERS);
}
inline std::vector<Pointer<Block>> consumers_of(const Program& program, const Block& block) {
  return detail::neighbours(program, block, TUNESMITH_SIDE_CONSUMERS);
}

struct MatrixProduct {
  /// Positions in read_accesses(): of the factor with the rows, and of the factor with the columns.
  std::array<size_t, 2> factors{0, 1};
  /// For each factor in memory: does the reduction axis lie inside the rows or columns?
  std::array<bool, 2> reduction_inside{true, false};
  /// Maps the block's iterators to those of the product, (batch.., i, j, k), for transform_block_layout;
  /// empty if they are the same.
  std::string index_map;
  std::vector<int64_t> extents;  ///< of (batch.., i, j, k)
};

/// Returns "", or why the block is not a matrix product, as a constant sentence. An iterator of both factors
/// belongs to the batch. An iterator that a factor uses only by its quotient or remainder (groups of
/// channels, the phase of a stride) is split if the divisor divides its extent.
inline std::string match_matrix_product(const Block& block, MatrixProduct* product) {
  tunesmith_matrix_product found = {};
  found.size = sizeof(found);
  tunesmith_text reason = {};
  detail::check(detail::tables.analysis->matrix_product(block.snapshot().program,
                                                        static_cast<uint32_t>(block.id), &found, &reason));
  if (reason.size > 0) return std::string(detail::view(reason));
  product->factors = {found.factor_of_rows, found.factor_of_columns};
  product->reduction_inside = {found.rows_reduction_inside != 0, found.columns_reduction_inside != 0};
  product->index_map = detail::view(found.index_map);
  product->extents.assign(found.extents, found.extents + found.extent_count);
  return "";
}

/// The only reader of the block's result, if it is elementwise and can follow the block; else null.
inline Pointer<Block> element_reader(const Program& program, const Block& block) {
  uint32_t reader = TUNESMITH_NONE;
  detail::check(detail::tables.analysis->element_reader(block.snapshot().program,
                                                        static_cast<uint32_t>(block.id), &reader));
  return reader == TUNESMITH_NONE ? nullptr : program.find_block(BlockId{reader});
}

}  // namespace stable
}  // namespace tunesmith
