#include "tunesmith/ir/regions.h"

#include <algorithm>
#include <limits>

#include "tunesmith/ir/visit.h"
#include "tunesmith/support/error.h"

namespace tunesmith {

bool equal_indices(std::span<const Expr> a, std::span<const Expr> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Expr& x, const Expr& y) { return equal(x, y); });
}

bool is_at(const Access& access, const Buffer& buffer, std::span<const Expr> indices) {
  return access.buffer == buffer && equal_indices(access.indices, indices);
}

bool loads_from(const Expr& expr, const Buffer& buffer) {
  return any_of_expr(expr, [&](const Expr& e) {
    const auto* node = e.as<LoadNode>();
    return node && node->buffer == buffer;
  });
}

namespace {

void add_unless_there(std::vector<Access>& list, const Buffer& buffer, std::span<const Expr> indices,
                      const Substitution& inner) {
  Access access{buffer, {indices.begin(), indices.end()}};
  for (Expr& index : access.indices) index = substitute(index, inner);
  for (const Access& known : list) {
    if (is_at(known, buffer, access.indices)) return;
  }
  list.push_back(std::move(access));
}

/// Walks a block's body with the iteration variables of the blocks inside it replaced by their bindings.
class AccessCollector {
 public:
  AccessCollector(std::vector<Access>* reads, std::vector<Access>* writes) : reads_(reads), writes_(writes) {}

  void body_of(const Block& block) {
    const bool outer_makes = makes_accumulator_;
    makes_accumulator_ = block.init() != nullptr;
    if (block.body()) stmt(*block.body());
    if (block.init() && reads_) stmt(*block.init());
    makes_accumulator_ = outer_makes;
  }

 private:
  void stmt(const Stmt& s) {
    const auto* store = s.as<Store>();
    if (reads_) visit_exprs(s, [&](const Expr& e) { loads(e, store); });
    if (store && writes_) add_unless_there(*writes_, store->buffer, store->indices, inner_);
    if (const auto* block = s.as<Block>()) {
      for (size_t i = 0; i < block->iters.size(); ++i) {
        inner_.set(block->iters[i].var, substitute(block->bindings[i], inner_));
      }
      body_of(*block);
      return;
    }
    visit_children(s, [&](const Stmt& child) { stmt(child); });
  }

  void loads(const Expr& e, const Store* store) {
    walk_expr(e, [&](const Expr& part) {
      const auto* node = part.as<LoadNode>();
      if (!node) return;
      const bool accumulator = makes_accumulator_ && store && node->buffer == store->buffer &&
                               equal_indices(node->indices(), store->indices);
      if (!accumulator) add_unless_there(*reads_, node->buffer, node->indices(), inner_);
    });
  }

  std::vector<Access>* reads_;
  std::vector<Access>* writes_;
  Substitution inner_;
  bool makes_accumulator_ = false;
};

bool touches(const std::vector<Access>& accesses, const Buffer& buffer) {
  return std::any_of(accesses.begin(), accesses.end(), [&](const Access& a) { return a.buffer == buffer; });
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

const Store* only_store(const Stmt* stmt) {
  if (!stmt) return nullptr;
  if (const auto* seq = stmt->as<Seq>())
    return seq->children().size() == 1 ? only_store(seq->children()[0].get()) : nullptr;
  return stmt->as<Store>();
}

bool is_load_of(const Expr& expr, const Store& store) {
  const auto* node = expr.as<LoadNode>();
  return node && !node->mask() && node->buffer == store.buffer &&
         equal_indices(node->indices(), store.indices);
}

}  // namespace

std::vector<Access> reads_of(const Block& block) {
  std::vector<Access> reads;
  AccessCollector(&reads, nullptr).body_of(block);
  return reads;
}

std::vector<Access> writes_of(const Block& block) {
  std::vector<Access> writes;
  AccessCollector(nullptr, &writes).body_of(block);
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
  const Store* update = only_store(block.body());
  if (!update || update->mask || !block.has_reduction()) return false;
  const ExprKind op = update->value.kind();
  if (op != ExprKind::Add && op != ExprKind::Mul && op != ExprKind::Min && op != ExprKind::Max) return false;
  const Expr& left = update->value.arg(0);
  const Expr& right = update->value.arg(1);
  const bool on_left = is_load_of(left, *update);
  if (!on_left && !is_load_of(right, *update)) return false;
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
  const auto largest = static_cast<int64_t>((uint64_t{1} << magnitude_bits) - 1);
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
