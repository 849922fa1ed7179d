#include "tunesmith/verification/mutate.h"

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <vector>

#include "mutate_ranges.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith {
namespace {

/// Changes one place of a program: collects the possible changes, then makes the chosen one.
using Change = std::function<void()>;

std::vector<Block*> leaf_blocks(const Program& program) {
  std::vector<Block*> leaves;
  for (Block* block : program.blocks()) {
    if (block->body()->as<Store>() != nullptr) leaves.push_back(block);
  }
  return leaves;
}

bool is_output(const Program& program, const Buffer& buffer) {
  return std::find(program.outputs.begin(), program.outputs.end(), buffer) != program.outputs.end();
}

/// A condition that holds in the middle of the block's first reduction iterator of extent above 1; null
/// without such an iterator.
Expr middle_of_reduction(const Block& block) {
  for (const IterVar& iter : block.iters) {
    if (iter.kind == IterKind::Reduction && iter.extent > 1) return eq(iter.var, int_imm(iter.extent / 2));
  }
  return {};
}

/// True when `expr` loads the element that `store` updates.
bool is_self(const Expr& expr, const Store& store) {
  const LoadNode* access = expr.as<LoadNode>();
  return access != nullptr && access->buffer == store.buffer;
}

/// In a reduction's update, the position of the operand that is the updated element; 2 if neither is.
size_t self_operand(const Store& store) {
  if (store.value.args().size() != 2) return 2;
  for (const size_t side : {size_t{0}, size_t{1}}) {
    if (is_self(store.value.arg(side), store)) return side;
  }
  return 2;
}

/// One change for each node of the store's value for which `rewrite` returns another.
void each_node(Store& store, std::vector<Change>& changes, const std::function<Expr(const Expr&)>& rewrite) {
  walk_expr(store.value, [&](const Expr& part) {
    const Expr other = rewrite(part);
    if (!other || equal(other, part)) return;
    changes.push_back([&store, part, other] {
      store.value =
          rewrite_expr(store.value, [&](const Expr& node) { return equal(node, part) ? other : node; });
    });
  });
}

Expr next_element(const Expr& index, int64_t extent) { return floormod(index + 1, int_imm(extent)); }

/// The load with its last index of extent above 1 increased by one where `where` holds.
Expr shifted(const LoadNode& access, const Expr& where) {
  std::vector<Expr> indices(access.indices().begin(), access.indices().end());
  for (size_t d = indices.size(); d-- > 0;) {
    const int64_t extent = access.buffer->shape[d];
    if (extent < 2) continue;
    const Expr other = next_element(indices[d], extent);
    indices[d] = where ? select(where, other, indices[d]) : other;
    return load(access.buffer, std::move(indices), access.mask());
  }
  return {};
}

/// The load with two indices of equal extents swapped.
Expr transposed(const LoadNode& access) {
  std::vector<Expr> indices(access.indices().begin(), access.indices().end());
  for (size_t a = 0; a < indices.size(); ++a) {
    for (size_t b = a + 1; b < indices.size(); ++b) {
      if (access.buffer->shape[a] != access.buffer->shape[b] || access.buffer->shape[a] == 1) continue;
      std::swap(indices[a], indices[b]);
      return load(access.buffer, std::move(indices), access.mask());
    }
  }
  return {};
}

Expr replaced_function(const Expr& expr) {
  const CallNode* function = expr.as<CallNode>();
  if (function == nullptr) return {};
  const Expr& x = expr.arg(0);
  const DType type = expr.dtype();
  const auto number = [&](double value) { return float_imm(value, type); };
  switch (function->op) {
    case MathOp::Erf:
    case MathOp::Tanh:
      return select(lt(x, number(0.0)), number(-1.0), number(1.0));
    case MathOp::Exp:
      return number(1.0) + x;
    case MathOp::Sigmoid:
      return select(lt(x, number(0.0)), number(0.0), number(1.0));
    case MathOp::Rsqrt:
      return call(MathOp::Sqrt, {x});
    default:
      return x;
  }
}

void shorten(Loop& loop, std::vector<Change>& changes) {
  int64_t extent = 0;
  if (as_const_int(loop.extent, &extent) && extent > 1)
    changes.push_back([&loop, extent] { loop.extent = int_imm(extent - 1); });
}

DType narrower(DType type) { return type == kF64 ? kF32 : kBF16; }

void collect_padding(Store& store, std::vector<Change>& changes) {
  walk_expr(store.value, [&](const Expr& part) {
    const bool fills =
        part.is(ExprKind::Select) && part.arg(1).is(ExprKind::Load) && part.arg(2).args().empty();
    if (!fills) return;
    if (part.same_as(store.value)) {
      changes.push_back([&store, part] {
        const Expr& condition = part.arg(0);
        store.value = select(condition, part.arg(1), load(store.buffer, store.indices));
      });
    } else {
      const Expr filled = part.arg(2) + constant(1.0, part.dtype());
      changes.push_back([&store, part, filled] {
        store.value = rewrite_expr(store.value, [&](const Expr& node) {
          return equal(node, part) ? select(part.arg(0), part.arg(1), filled) : node;
        });
      });
    }
  });
}

void collect_in_reduction(Block& block, Store& store, Mutation mutation, std::vector<Change>& changes) {
  const size_t self = block.has_reduction() ? self_operand(store) : 2;
  const bool updates = self < 2;
  const Expr middle = middle_of_reduction(block);
  switch (mutation) {
    case Mutation::InitMissing:
      if (block.init() != nullptr) changes.push_back([&block] { block.take_init(); });
      break;
    case Mutation::InitRepeated: {
      const Store* init = block.init() == nullptr ? nullptr : block.init()->as<Store>();
      if (!updates || !middle || init == nullptr) break;
      changes.push_back([&store, self, middle, start = init->value] {
        std::vector<Expr> args(store.value.args().begin(), store.value.args().end());
        args[self] = select(middle, start, args[self]);
        store.value = with_args(store.value, std::move(args));
      });
      break;
    }
    case Mutation::TermDropped:
      if (updates && middle) {
        changes.push_back(
            [&store, self, middle] { store.value = select(middle, store.value.arg(self), store.value); });
      }
      break;
    case Mutation::TermTwice:
      if (updates && middle && store.value.is(ExprKind::Add)) {
        changes.push_back([&store, self, middle] {
          store.value = select(middle, store.value + store.value.arg(1 - self), store.value);
        });
      }
      break;
    case Mutation::NarrowAccumulator:
      if (updates && store.value.is(ExprKind::Add) && store.value.dtype().is_float() &&
          store.value.dtype().bits >= 32) {
        changes.push_back([&store] {
          const DType type = store.value.dtype();
          store.value = cast(type, cast(narrower(type), store.value));
        });
      }
      break;
    default:
      break;
  }
}

void collect_in_value(Store& store, Mutation mutation, std::vector<Change>& changes) {
  switch (mutation) {
    case Mutation::OffByOne:
      each_node(store, changes, [&](const Expr& part) {
        const LoadNode* access = part.as<LoadNode>();
        return access == nullptr || is_self(part, store) ? Expr() : shifted(*access, {});
      });
      break;
    case Mutation::OperandsSwapped:
      each_node(store, changes, [&](const Expr& part) {
        if (!part.dtype().is_float() && !part.is(ExprKind::Load)) return Expr();
        if (part.is(ExprKind::Sub) || part.is(ExprKind::Div))
          return binary(part.kind(), part.arg(1), part.arg(0));
        const LoadNode* access = part.as<LoadNode>();
        return access == nullptr || is_self(part, store) ? Expr() : transposed(*access);
      });
      break;
    case Mutation::ScaleLost:
      each_node(store, changes, [&](const Expr& part) {
        const bool scales = part.is(ExprKind::Mul) || part.is(ExprKind::Div);
        return scales && part.dtype().is_float() ? part.arg(0) : Expr();
      });
      break;
    case Mutation::FunctionReplaced:
      each_node(store, changes, [&](const Expr& part) {
        if (part.is(ExprKind::Max) || part.is(ExprKind::Min)) {
          return is_self(part.arg(0), store) ? part.arg(1) : part.arg(0);
        }
        return replaced_function(part);
      });
      break;
    case Mutation::PaddingNotFilled:
      collect_padding(store, changes);
      break;
    default:
      break;
  }
}

void collect_in_result(const Program& program, Block& block, Store& store, Mutation mutation,
                       std::vector<Change>& changes) {
  switch (mutation) {
    case Mutation::StaleWorkspace:
      if (is_output(program, store.buffer)) break;
      for (const IterVar& iter : block.iters) {
        if (iter.kind != IterKind::Spatial || iter.extent < 2) continue;
        changes.push_back([&store, &block, var = iter.var, last = iter.extent - 1] {
          const Expr stale = load(store.buffer, store.indices);
          store.value = select(eq(var, int_imm(last)), stale, store.value);
          Store* init = block.init() == nullptr ? nullptr : block.init()->as<Store>();
          if (init != nullptr)
            init->value = select(eq(var, int_imm(last)), load(init->buffer, init->indices), init->value);
        });
      }
      break;
    case Mutation::OneElementWrong: {
      if (!is_output(program, store.buffer)) break;
      Expr here = bool_imm(true);
      for (const IterVar& iter : block.iters) {
        if (iter.kind == IterKind::Spatial) here = logical_and(here, eq(iter.var, int_imm(iter.extent / 2)));
      }
      each_node(store, changes, [&](const Expr& part) {
        const LoadNode* access = part.as<LoadNode>();
        return access == nullptr || is_self(part, store) ? Expr() : shifted(*access, here);
      });
      break;
    }
    case Mutation::Zeros:
      if (is_output(program, store.buffer))
        changes.push_back([&store] { store.value = constant(0.0, store.value.dtype()); });
      break;
    default:
      break;
  }
}

void collect_in_block(const Program& program, Block& block, Store& store, Mutation mutation,
                      std::vector<Change>& changes) {
  const std::vector<Loop*> loops = loops_above(block);
  switch (mutation) {
    case Mutation::TileDropped:
      if (!loops.empty()) shorten(*loops.front(), changes);
      break;
    case Mutation::TailDropped:
      if (!loops.empty()) shorten(*loops.back(), changes);
      break;
    case Mutation::InitMissing:
    case Mutation::InitRepeated:
    case Mutation::TermDropped:
    case Mutation::TermTwice:
    case Mutation::NarrowAccumulator:
      return collect_in_reduction(block, store, mutation, changes);
    case Mutation::OffByOne:
    case Mutation::OperandsSwapped:
    case Mutation::PaddingNotFilled:
    case Mutation::ScaleLost:
    case Mutation::FunctionReplaced:
      return collect_in_value(store, mutation, changes);
    case Mutation::StaleWorkspace:
    case Mutation::OneElementWrong:
    case Mutation::Zeros:
      return collect_in_result(program, block, store, mutation, changes);
    default:
      return collect_range_mistakes(program, store, mutation, changes);
  }
}

}  // namespace

std::string_view mutation_name(Mutation mutation) {
  constexpr std::array<std::string_view, kMutations> kNames{
      "tile dropped",   "tail dropped",      "off by one",
      "init missing",   "init repeated",     "term dropped",
      "term twice",     "operands swapped",  "padding not filled",
      "scale lost",     "stale workspace",   "one element wrong",
      "zeros",          "function replaced", "narrow accumulator",
      "clamped",        "low half product",  "saturates",
      "sign lost",      "conversion wraps",  "denormals flushed",
      "extreme swapped"};
  return kNames.at(static_cast<size_t>(mutation));
}

bool is_rounding_only(Mutation mutation) { return mutation == Mutation::NarrowAccumulator; }

std::optional<Program> mutate(const Program& program, Mutation mutation, uint64_t site) {
  Program mutant = program.clone();
  std::vector<Change> changes;
  for (Block* block : leaf_blocks(mutant))
    collect_in_block(mutant, *block, *block->body()->as<Store>(), mutation, changes);
  if (site >= changes.size()) return std::nullopt;
  changes[site]();
  return mutant;
}

Program in_double_precision(const Program& program) {
  Program wide = program.clone();
  std::unordered_map<const BufferNode*, Buffer> twins;
  for (const Buffer& buffer : program.buffers()) {
    twins[buffer.get()] =
        !buffer->dtype.is_float() ? buffer : make_buffer(buffer->name, kF64, buffer->shape, buffer->scope);
  }
  const std::function<Expr(const Expr&)> widened = [&](const Expr& expr) -> Expr {
    if (!expr) return expr;
    if (const FloatImm* number = expr.as<FloatImm>()) return float_imm(number->value, kF64);
    if (const LoadNode* access = expr.as<LoadNode>()) {
      std::vector<Expr> indices;
      for (const Expr& index : access->indices()) indices.push_back(widened(index));
      return load(twins.at(access->buffer.get()), std::move(indices), widened(access->mask()));
    }
    if (expr.args().empty()) return expr;
    std::vector<Expr> args;
    for (const Expr& arg : expr.args()) args.push_back(widened(arg));
    if (expr.is(ExprKind::Cast)) return cast(expr.dtype().is_float() ? kF64 : expr.dtype(), args[0]);
    return with_args(expr, std::move(args));
  };
  for (Store* store : collect<Store>(wide.root())) {
    std::vector<Expr> indices;
    for (const Expr& index : store->indices) indices.push_back(widened(index));
    replace(*store, std::make_unique<Store>(twins.at(store->buffer.get()), std::move(indices),
                                            widened(store->value), widened(store->mask)));
  }
  for (std::vector<Buffer>* list : {&wide.inputs, &wide.outputs, &wide.intermediates}) {
    for (Buffer& buffer : *list) buffer = twins.at(buffer.get());
  }
  return wide;
}

}  // namespace tunesmith
