#include "tunesmith/ir/regions.h"

#include <algorithm>
#include <limits>

#include "ir/walk_bound.h"
#include "tunesmith/support/error.h"

namespace tunesmith {

bool equal_indices(std::span<const Expr> a, std::span<const Expr> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Expr& x, const Expr& y) { return equal(x, y); });
}

bool is_at(const Access& access, const Buffer& buffer, std::span<const Expr> indices) {
  return access.buffer == buffer && equal_indices(access.indices, indices);
}

bool touches(std::span<const Access> accesses, const Buffer& buffer) {
  return std::any_of(accesses.begin(), accesses.end(), [&](const Access& a) { return a.buffer == buffer; });
}

bool loads_from(const Expr& expr, const Buffer& buffer) {
  return any_of_expr(expr, [&](const Expr& e) {
    const auto* node = e.as<LoadNode>();
    return node && node->buffer == buffer;
  });
}

bool is_own_element(const Expr& expr, const Store& store) {
  const auto* node = expr.as<LoadNode>();
  return node && !node->mask() && node->buffer == store.buffer &&
         equal_indices(node->indices(), store.indices);
}

namespace {

const Store* only_store(const Stmt* stmt) {
  if (!stmt) return nullptr;
  if (const auto* seq = stmt->as<Seq>())
    return seq->children().size() == 1 ? only_store(seq->children()[0].get()) : nullptr;
  return stmt->as<Store>();
}

}  // namespace

const Store* body_store(const Block& block) { return only_store(block.body()); }

namespace {

void add_unless_there(std::vector<Access>& list, const AccessSite& site, const Substitution& inner) {
  Access access{site.buffer, substitute(site.indices, inner)};
  for (const Access& known : list) {
    if (is_at(known, access.buffer, access.indices)) return;
  }
  list.push_back(std::move(access));
}

/// True for the load of the stored element, in a block that accumulates.
bool is_accumulator(const Stmt& stmt, const AccessSite& access) {
  const auto* store = stmt.as<Store>();
  return store && store->buffer == access.buffer && equal_indices(access.indices, store->indices) &&
         enclosing_block(stmt)->init();
}

bool share_buffer(const std::vector<Access>& a, const std::vector<Access>& b) {
  return std::any_of(a.begin(), a.end(), [&](const Access& access) { return touches(b, access.buffer); });
}

template <typename Test>
std::vector<Block*> blocks_where(const Program& program, const Test& test) {
  std::vector<Block*> found = program.blocks();
  std::erase_if(found, [&](Block* block) { return !test(*block); });
  return found;
}

}  // namespace

std::vector<Access> reads_of(const Block& block) {
  std::vector<Access> reads;
  Substitution inner;
  for (const Stmt* part : {block.body(), block.init()}) {
    if (!part) continue;
    walk_bound(*part, inner, [&](const Stmt& stmt) {
      visit_accesses(stmt, [&](const AccessSite& access) {
        if (access.load && !is_accumulator(stmt, access)) add_unless_there(reads, access, inner);
      });
    });
  }
  return reads;
}

std::vector<Access> writes_of(const Block& block) {
  std::vector<Access> writes;
  Substitution inner;
  if (!block.body()) return writes;
  walk_bound(*block.body(), inner, [&](const Stmt& stmt) {
    if (const auto* store = stmt.as<Store>())
      add_unless_there(writes, {store->buffer, store->indices}, inner);
  });
  return writes;
}

std::vector<Block*> writers_of(const Program& program, const Buffer& buffer) {
  return blocks_where(program, [&](const Block& block) { return touches(writes_of(block), buffer); });
}

std::vector<Block*> readers_of(const Program& program, const Buffer& buffer) {
  return blocks_where(program, [&](const Block& block) { return touches(reads_of(block), buffer); });
}

std::vector<Block*> producers_of(const Program& program, const Block& block) {
  const std::vector<Access> reads = reads_of(block);
  return blocks_where(
      program, [&](const Block& other) { return &other != &block && share_buffer(reads, writes_of(other)); });
}

std::vector<Block*> consumers_of(const Program& program, const Block& block) {
  const std::vector<Access> writes = writes_of(block);
  return blocks_where(
      program, [&](const Block& other) { return &other != &block && share_buffer(writes, reads_of(other)); });
}

bool match_reduction(const Block& block, ReductionPattern* pattern) {
  const Store* update = body_store(block);
  if (!update || update->mask || !block.has_reduction()) return false;
  const ExprKind op = update->value.kind();
  if (op != ExprKind::Add && op != ExprKind::Mul && op != ExprKind::Min && op != ExprKind::Max) return false;
  const Expr& left = update->value.arg(0);
  const Expr& right = update->value.arg(1);
  const bool on_left = is_own_element(left, *update);
  if (!on_left && !is_own_element(right, *update)) return false;
  const Expr& term = on_left ? right : left;
  if (loads_from(term, update->buffer)) return false;

  const Store* init = only_store(block.init());
  if (block.init() && !init) return false;
  if (init &&
      (init->buffer != update->buffer || init->mask || !equal_indices(init->indices, update->indices) ||
       !equal(init->value, reduction_identity(op, update->value.dtype())))) {
    return false;
  }
  *pattern = {op, init, update, term};
  return true;
}

Expr reduction_identity(ExprKind op, DType type) {
  const bool floating = type.is_float();
  const double infinity = std::numeric_limits<double>::infinity();
  const int magnitude_bits = type.code == TypeCode::UInt ? type.bits : type.bits - 1;
  const auto largest = static_cast<int64_t>(~uint64_t{0} >> (64 - magnitude_bits));
  switch (op) {
    case ExprKind::Add:
      return constant(0, type);
    case ExprKind::Mul:
      return constant(1, type);
    case ExprKind::Min:
      return floating ? float_imm(infinity, type) : int_imm(largest, type);
    case ExprKind::Max:
      if (floating) return float_imm(-infinity, type);
      return int_imm(type.code == TypeCode::UInt ? 0 : -largest - 1, type);
    default:
      throw InternalError("only sums, products, minima and maxima have an identity");
  }
}

}  // namespace tunesmith
