#include <algorithm>

#include <fmt/format.h>

#include "affine/index_map.h"
#include "analysis/accesses.h"
#include "analysis/buffer_uses.h"
#include "analysis/loop_tools.h"
#include "primitives/primitives.h"
#include "primitives/shared/copy_nest.h"
#include "primitives/shared/varying.h"
#include "trace/kind_builder.h"
#include "tunesmith/ir/regions.h"
#include "tunesmith/ir/tree_surgery.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/support/contains.h"

namespace tunesmith {
namespace {

/// A load of the block, and its buffer's padded copy.
struct PaddedRead {
  Buffer buffer;
  std::vector<Expr> indices;
  std::vector<int64_t> shape;
  bool grows = false;
};

struct Padding {
  Stage stage;
  std::vector<Loop*> loops;      // one for each iterator, null for extent 1
  std::vector<int64_t> extents;  // padded
  std::vector<PaddedRead> reads;
  std::vector<int64_t> shape;  // of the padded output
};

int iter_at(const Block& block, const Expr& index) {
  for (size_t i = 0; i < block.iters.size(); ++i) {
    if (index.get() == block.iters[i].var.get()) return static_cast<int>(i);
  }
  return -1;
}

/// The values that the block computes: the stored value and the init's.
std::vector<Expr> values_of(const Block& block) {
  std::vector<Expr> values{body_store(block)->value};
  if (block.init() == nullptr) return values;
  for (const Store* store : collect<Store>(*block.init())) values.push_back(store->value);
  return values;
}

/// The shape of a buffer accessed with padded iterators; an index is an iterator, or uses no padded one.
std::optional<Refusal> shape_refusal(const Padding& plan, const Buffer& buffer, std::span<const Expr> indices,
                                     std::vector<int64_t>* shape, bool* grows) {
  const Block& block = *plan.stage.block;
  for (size_t d = 0; d < indices.size(); ++d) {
    const int iter = iter_at(block, indices[d]);
    shape->push_back(buffer->shape[d]);
    if (iter >= 0) {
      const auto i = static_cast<size_t>(iter);
      if (plan.extents[i] == block.iters[i].extent) continue;
      if (buffer->shape[d] != block.iters[i].extent)
        return Refusal{"a padded iterator does not run over the whole of a dimension", buffer->name, &block};
      shape->back() = plan.extents[i];
      *grows = true;
      continue;
    }
    for (const Var& var : vars_of(indices[d])) {
      const auto i = static_cast<size_t>(block.iter_index(var));
      if (i >= block.iters.size() || plan.extents[i] != block.iters[i].extent)
        return Refusal{"a padded iterator is part of an index", buffer->name, &block};
    }
  }
  return std::nullopt;
}

/// Is the term zero where a padded reduction iterator exceeds its end: a product of loads that all use it?
bool vanishes(const Expr& term, const Var& var) {
  switch (term.kind()) {
    case ExprKind::Mul:
      return vanishes(term.arg(0), var) && vanishes(term.arg(1), var);
    case ExprKind::Cast:
      return vanishes(term.arg(0), var);
    case ExprKind::Call:
      return term.as<CallNode>()->op == MathOp::RoundTf32 && vanishes(term.arg(0), var);
    case ExprKind::Load:
      return uses_var(term, var) && !term.as<LoadNode>()->mask();
    default:
      return false;
  }
}

std::optional<Refusal> term_refusal(const Padding& plan) {
  const Block& block = *plan.stage.block;
  ReductionPattern pattern;
  const bool matched = match_reduction(block, &pattern);
  for (size_t i = 0; i < block.iters.size(); ++i) {
    if (block.iters[i].kind != IterKind::Reduction || plan.extents[i] == block.iters[i].extent) continue;
    if (!matched || pattern.op != ExprKind::Add || !vanishes(pattern.term, block.iters[i].var))
      return Refusal{"cannot prove that a reduction over padding adds zero", block.iters[i].var->name,
                     &block};
  }
  return std::nullopt;
}

/// A guard must not hold beyond the end: it would let a new load happen there.
std::optional<Refusal> guard_refusal(const Padding& plan) {
  const Block& block = *plan.stage.block;
  bool guarded = false;
  const auto visit = [&](const Expr& part) {
    for (size_t i = 0; i < block.iters.size() && part.is(ExprKind::Select); ++i) {
      const bool grows = plan.extents[i] != block.iters[i].extent;
      guarded = guarded || (grows && uses_var(part.arg(0), block.iters[i].var));
    }
  };
  for (const Expr& value : values_of(block)) walk_expr(value, visit);
  if (guarded) return Refusal{"a padded iterator decides a condition", block.name, &block};
  return std::nullopt;
}

std::optional<Refusal> reads_refusal(const Program& program, Padding* plan) {
  Block& block = *plan->stage.block;
  const Store& store = *body_store(block);
  std::optional<Refusal> refusal;
  const auto visit = [&](const Expr& part) {
    const LoadNode* load = part.as<LoadNode>();
    if (load == nullptr || refusal || load->buffer == store.buffer) return;
    PaddedRead read{load->buffer, {load->indices().begin(), load->indices().end()}, {}, false};
    const bool known = std::any_of(plan->reads.begin(), plan->reads.end(), [&](const PaddedRead& other) {
      return other.buffer == read.buffer && equal_indices(other.indices, read.indices);
    });
    if (known) return;
    refusal = shape_refusal(*plan, read.buffer, read.indices, &read.shape, &read.grows);
    if (!refusal && read.grows) refusal = whole_copy_refusal(program, block, read.buffer);
    plan->reads.push_back(std::move(read));
  };
  for (const Expr& value : values_of(block)) walk_expr(value, visit);
  return refusal;
}

std::optional<Refusal> plan_refusal(const Program& program, Block& block, std::span<const int64_t> padding,
                                    Padding* plan, bool* writes_more) {
  if (auto refusal = stage_refusal(program, block, &plan->stage)) return refusal;
  const Store* store = body_store(block);
  if (store == nullptr || store->mask)
    return Refusal{"the body of the block is not one store", block.name, &block};
  if (padding.size() != block.iters.size())
    return Refusal{"expected one multiple for each iterator",
                   fmt::format("{} for {}", padding.size(), block.iters.size()), &block};
  for (size_t i = 0; i < padding.size(); ++i) {
    const int64_t extent = block.iters[i].extent;
    if (padding[i] < 1 || padding[i] > (int64_t{1} << 20))
      return Refusal{"a multiple is not between 1 and 2^20", fmt::format("{}", padding[i]), &block};
    plan->extents.push_back((extent + padding[i] - 1) / padding[i] * padding[i]);
  }
  if (auto refusal = plain_nest_refusal(block, &plan->loops)) return refusal;
  if (auto refusal = varying_refusal(block)) return refusal;
  for (size_t i = 0; i < block.iters.size(); ++i) {
    if (plan->loops[i] == nullptr && plan->extents[i] != 1)
      return Refusal{"an iterator of the block is not a single loop", block.iters[i].var->name, &block};
  }
  if (auto refusal = term_refusal(*plan)) return refusal;
  if (auto refusal = guard_refusal(*plan)) return refusal;
  if (auto refusal = reads_refusal(program, plan)) return refusal;
  if (auto refusal = shape_refusal(*plan, store->buffer, store->indices, &plan->shape, writes_more))
    return refusal;
  const bool large = is_too_large(plan->shape) ||
                     std::any_of(plan->reads.begin(), plan->reads.end(),
                                 [](const PaddedRead& read) { return is_too_large(read.shape); });
  if (large) return Refusal{"a padded buffer has more than 2^36 elements", block.name, &block};
  for (size_t i = 0; i < block.iters.size(); ++i) {
    const bool grows = block.iters[i].kind == IterKind::Spatial && plan->extents[i] != block.iters[i].extent;
    const bool indexed = std::any_of(store->indices.begin(), store->indices.end(), [&](const Expr& index) {
      return iter_at(block, index) == static_cast<int>(i);
    });
    if (grows && !indexed)
      return Refusal{"a padded iterator does not index what the block writes", block.iters[i].var->name,
                     &block};
  }
  if (*writes_more && !writes_everything(block, store->buffer))
    return Refusal{"the block does not write every element of its buffer", store->buffer->name, &block};
  return std::nullopt;
}

Buffer add_padded_buffer(Program& program, const Buffer& like, const std::vector<int64_t>& shape) {
  Buffer buffer = make_buffer(program.fresh_buffer_name(like->name + "_pad"), like->dtype, shape);
  program.intermediates.push_back(buffer);
  return buffer;
}

/// Copies `from` and fills the rest with zeros.
StmtPtr make_padding_nest(Program& program, const Buffer& from, const Buffer& to) {
  return make_block_nest(program, to->name, to->shape,
                         [&](const std::vector<Expr>& indices) {
                           Expr inside = bool_imm(true);
                           for (size_t d = 0; d < to->shape.size(); ++d) {
                             if (from->shape[d] < to->shape[d])
                               inside = logical_and(inside, lt(indices[d], from->shape[d]));
                           }
                           const Expr value = select(inside, load(from, indices), constant(0, from->dtype));
                           return std::make_unique<Store>(to, indices, value);
                         })
      .nest;
}

}  // namespace

void pad_einsum(Program& program, BlockId id, std::span<const int64_t> padding) {
  Block& block = block_at(program, id, "pad_einsum");
  Padding plan;
  bool writes_more = false;
  throw_refusal("pad_einsum", program, plan_refusal(program, block, padding, &plan, &writes_more));

  Stmt& nest = outermost_in_scope(block);
  for (const PaddedRead& read : plan.reads) {
    if (!read.grows) continue;
    const Buffer padded = add_padded_buffer(program, read.buffer, read.shape);
    insert_before(nest, make_padding_nest(program, read.buffer, padded));
    redirect_reads(block, {read.buffer, read.indices}, padded, read.indices);
  }
  if (writes_more) {
    const Buffer buffer = plan.stage.buffer;
    const Buffer padded = add_padded_buffer(program, buffer, plan.shape);
    replace_buffer_in(block, buffer, padded);
    BlockNest copy =
        make_block_nest(program, padded->name, buffer->shape, [&](const std::vector<Expr>& indices) {
          return std::make_unique<Store>(buffer, indices, load(padded, indices));
        });
    insert_after(nest, std::move(copy.nest));
  }
  for (size_t i = 0; i < plan.extents.size(); ++i) {
    block.iters[i].extent = plan.extents[i];
    if (plan.loops[i] != nullptr) plan.loops[i]->extent = plan.extents[i];
  }
}

KindPtr pad_einsum_kind() { return make_transformation("pad_einsum", pad_einsum, {"block", "padding"}); }

void Schedule::pad_einsum(BlockRV block, const std::vector<int64_t>& padding) {
  execute(kind("pad_einsum"), {block, as_arg(padding)});
}

}  // namespace tunesmith
