#include <algorithm>

#include <fmt/format.h>

#include "schedule/buffer_uses.h"
#include "schedule/copy_nest.h"
#include "schedule/kind_builder.h"
#include "schedule/loop_tools.h"
#include "schedule/primitives.h"
#include "schedule/tree_surgery.h"
#include "tunesmith/arith/simplify.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith {
namespace {

/// The one way in which a block touches a buffer, and the iterators that it depends on.
struct OneAccess {
  std::vector<Expr> indices;
  std::vector<IterVar> iters;
};

std::optional<Refusal> access_refusal(const Block& block, const Buffer& buffer, OneAccess* access) {
  bool one = true;
  const auto add = [&](std::span<const Expr> indices) {
    if (access->indices.empty()) access->indices.assign(indices.begin(), indices.end());
    one = one && std::equal(indices.begin(), indices.end(), access->indices.begin(),
                            [](const Expr& a, const Expr& b) { return equal(a, b); });
  };
  walk(static_cast<const Stmt&>(block), [&](const Stmt& stmt) {
    const Store* store = stmt.as<Store>();
    if (store != nullptr && store->buffer == buffer) add(store->indices);
    visit_exprs(stmt, [&](const Expr& expr) {
      walk_expr(expr, [&](const Expr& part) {
        const LoadNode* load = part.as<LoadNode>();
        if (load != nullptr && load->buffer == buffer) add(load->indices());
      });
    });
  });
  if (!one) return Refusal{"the block accesses the buffer in more than one way", buffer->name, &block};

  Analyzer analyzer;
  size_t known = 0;
  std::vector<Var> used;
  for (const Expr& index : access->indices) {
    for (const Var& var : vars_of(index)) {
      if (std::find(used.begin(), used.end(), var) == used.end()) used.push_back(var);
    }
  }
  for (const IterVar& iter : block.iters) {
    if (std::find(used.begin(), used.end(), iter.var) == used.end()) continue;
    analyzer.bind(iter.var, iter.extent);
    access->iters.push_back(iter);
    ++known;
  }
  if (known != used.size())
    return Refusal{"the access depends on more than the block's iterators", buffer->name, &block};
  for (size_t d = 0; d < access->indices.size(); ++d) {
    const Interval range = analyzer.bounds(access->indices[d]);
    if (range.min < 0 || range.max >= buffer->shape[d])
      return Refusal{"the access may lie outside the buffer", buffer->name, &block};
  }
  return std::nullopt;
}

std::optional<Refusal> write_refusal(const Program& program, Block& block, const Buffer& buffer,
                                     const OneAccess& access) {
  Stage stage;
  if (auto refusal = stage_refusal(program, block, &stage)) return refusal;
  const Stmt& nest = outermost_in_scope(block);
  for (const Block* reader : stage.uses.readers) {
    if (is_ancestor(nest, *reader))
      return Refusal{"a reader of the buffer stands in the loop nest of its writer", reader->name, reader};
  }
  std::vector<IterDomain> domains;
  for (const IterVar& iter : access.iters) domains.push_back({iter.var, iter.extent});
  if (!check_iter_map(access.indices, buffer->shape, domains, bool_imm(true)).injective)
    return Refusal{"different iterations write the same element", buffer->name, &block};
  return std::nullopt;
}

/// All accesses in `block` become accesses of `to` at the block's own iterators.
void rewrite(Block& block, const Buffer& from, const Buffer& to, const OneAccess& access) {
  std::vector<Expr> indices;
  for (const IterVar& iter : access.iters) indices.emplace_back(iter.var);
  walk(static_cast<Stmt&>(block), [&](Stmt& stmt) {
    Store* store = stmt.as<Store>();
    if (store == nullptr || store->buffer != from) return;
    store->buffer = to;
    store->indices = indices;
  });
  rewrite_exprs(block, [&](const Expr& part) {
    const LoadNode* old = part.as<LoadNode>();
    return old != nullptr && old->buffer == from ? load(to, indices, old->mask()) : part;
  });
}

}  // namespace

BlockId reindex(Program& program, BlockId id, std::string_view access_sort, int64_t index) {
  Block& block = block_at(program, id, "reindex");
  const Buffer buffer = accessed_buffer(program, block, access_sort, index, "reindex");
  const bool reads = access_sort == "read";
  OneAccess access;
  throw_refusal("reindex", program, access_refusal(block, buffer, &access));
  throw_refusal(
      "reindex", program,
      reads ? copy_before_refusal(program, block, buffer) : write_refusal(program, block, buffer, access));

  std::vector<int64_t> shape;
  for (const IterVar& iter : access.iters) shape.push_back(iter.extent);
  const Buffer fresh =
      make_buffer(program.fresh_buffer_name(buffer->name + "_reindex"), buffer->dtype, shape);
  program.intermediates.push_back(fresh);
  rewrite(block, buffer, fresh, access);

  // The copy, written for the new buffer's indices, with the old access on its other side.
  CopyNest copy = make_copy_nest(program, fresh->name, fresh, fresh);
  Substitution map;
  std::vector<Expr> own;
  for (size_t i = 0; i < access.iters.size(); ++i) {
    map.set(access.iters[i].var, copy.block->iters[i].var);
    own.emplace_back(copy.block->iters[i].var);
  }
  std::vector<Expr> old;
  for (const Expr& old_index : access.indices) old.push_back(substitute(old_index, map));
  Stmt& nest = outermost_in_scope(block);
  if (reads) {
    copy.block->set_body(std::make_unique<Store>(fresh, own, load(buffer, old)));
    insert_before(nest, std::move(copy.nest));
  } else {
    copy.block->set_body(std::make_unique<Store>(buffer, old, load(fresh, own)));
    insert_after(nest, std::move(copy.nest));
  }
  return copy.block->id;
}

KindPtr reindex_kind() {
  return make_transformation(
      "reindex", {{"block", ParamType::Block}, {"access", ParamType::String}, {"index", ParamType::Int}},
      ResultType::Block, [](Program& program, const Arguments& args) -> std::vector<Value> {
        return {reindex(program, args.block(0), args.string(1), args.integer(2))};
      });
}

BlockRV Schedule::reindex(BlockRV block, std::string_view access, int index) {
  return as_handle<BlockRV>(execute(kind("reindex"), {block, std::string(access), int64_t{index}}));
}

}  // namespace tunesmith
