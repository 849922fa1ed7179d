#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "analysis/buffer_uses.h"
#include "analysis/loop_tools.h"
#include "primitives/primitives.h"
#include "primitives/shared/copy_nest.h"
#include "primitives/shared/varying.h"
#include "trace/kind_builder.h"
#include "tunesmith/affine/simplify.h"
#include "tunesmith/ir/regions.h"
#include "tunesmith/ir/tree_surgery.h"

// Minimal filtering F(2, 3) computes two outputs of a filter of three taps by four products instead of six
// (Winograd, Arithmetic Complexity of Computations; Lavin and Gray, Fast Algorithms for Convolutional Neural
// Networks). Its factors are powers of two, so that sums of small integers stay exact.

namespace tunesmith {
namespace {

constexpr int64_t kTaps = 3;
constexpr int64_t kOutputs = 2;  // per tile
constexpr int64_t kPoints = kTaps + kOutputs - 1;
/// Windows beyond these stay plain sums: each window multiplies the additions of the transforms.
constexpr size_t kMaxWindows = 2;

/// A spatial iterator of the outputs and a reduction over the taps: data[out + tap + offset] * weights[tap].
struct Window {
  size_t out = 0;  // index of the output's iterator in the block
  size_t tap = 0;
  size_t data_index = 0;
  size_t weights_index = 0;
  int64_t offset = 0;
  int64_t extent = 0;  // extent of `out`
  int64_t tiles() const { return (extent + kOutputs - 1) / kOutputs; }
};

struct Filtering {
  Stage stage;
  ReductionPattern pattern;
  const LoadNode* data = nullptr;
  const LoadNode* weights = nullptr;
  std::vector<Window> windows;
  int64_t tiles() const {
    int64_t all = 1;
    for (const Window& window : windows) all *= window.tiles();
    return all;
  }
};

size_t count_uses(const LoadNode& load, const Var& var) {
  const auto indices = load.indices();
  return static_cast<size_t>(
      std::ranges::count_if(indices, [&](const Expr& index) { return uses_var(index, var); }));
}

/// The position of the only index that uses `var`; nothing if there are none or several.
std::optional<size_t> only_index(const LoadNode& load, const Var& var) {
  if (count_uses(load, var) != 1) return std::nullopt;
  const auto indices = load.indices();
  const auto found = std::ranges::find_if(indices, [&](const Expr& index) { return uses_var(index, var); });
  return static_cast<size_t>(found - indices.begin());
}

/// The window of `tap`, the index of an iterator, with an iterator of the output.
std::optional<Window> window_of(const Block& block, size_t tap, const LoadNode& data,
                                const LoadNode& weights) {
  const Var& var = block.iters[tap].var;
  if (block.iters[tap].kind != IterKind::Reduction || block.iters[tap].extent != kTaps) return std::nullopt;
  const auto in_data = only_index(data, var), in_weights = only_index(weights, var);
  if (!in_data || !in_weights || weights.indices()[*in_weights].get() != var.get()) return std::nullopt;
  const LinearForm form = Analyzer().linear(data.indices()[*in_data]);
  if (form.terms.size() != 2 || form.coefficient_of(var) != 1) return std::nullopt;
  for (size_t i = 0; i < block.iters.size(); ++i) {
    const IterVar& out = block.iters[i];
    if (out.kind != IterKind::Spatial || form.coefficient_of(out.var) != 1 || out.extent < kOutputs) continue;
    if (count_uses(data, out.var) != 1 || count_uses(weights, out.var) != 0) return std::nullopt;
    return Window{i, tap, *in_data, *in_weights, form.constant, out.extent};
  }
  return std::nullopt;
}

std::vector<Window> windows_of(const Block& block, const LoadNode& data, const LoadNode& weights) {
  std::vector<Window> found;
  for (size_t i = 0; i < block.iters.size(); ++i) {
    if (const auto window = window_of(block, i, data, weights)) found.push_back(*window);
  }
  std::ranges::sort(found, {}, &Window::out);
  if (found.size() > kMaxWindows)
    found.erase(found.begin(), found.end() - static_cast<std::ptrdiff_t>(kMaxWindows));
  return found;
}

std::optional<Refusal> term_refusal(Filtering* plan) {
  const Block& block = *plan->stage.block;
  const Expr& term = plan->pattern.term;
  const auto no_product = Refusal{"the block is not a sum of products of two elements", block.name, &block};
  if (plan->pattern.op != ExprKind::Add || !term.is(ExprKind::Mul)) return no_product;
  const auto *left = term.arg(0).as<LoadNode>(), *right = term.arg(1).as<LoadNode>();
  if (left == nullptr || right == nullptr || left->mask() || right->mask()) return no_product;
  if (term.dtype() != kF32 && term.dtype() != kF64)
    return Refusal{"only sums of f32 and f64 have the precision", term.dtype().str(), &block};
  for (const auto& [data, weights] : {std::pair(left, right), std::pair(right, left)}) {
    plan->windows = windows_of(block, *data, *weights);
    plan->data = data;
    plan->weights = weights;
    if (!plan->windows.empty()) return std::nullopt;
  }
  return Refusal{"no output axis has a filter of three taps with stride one", block.name, &block};
}

std::optional<Refusal> plan_refusal(const Program& program, Block& block, Filtering* plan) {
  if (auto refusal = stage_refusal(program, block, &plan->stage)) return refusal;
  if (auto refusal = varying_refusal(block)) return refusal;
  std::vector<Loop*> own;
  if (auto refusal = plain_nest_refusal(block, &own)) return refusal;
  if (!match_reduction(block, &plan->pattern) || plan->pattern.init == nullptr)
    return Refusal{"the block is not a sum", block.name, &block};
  if (auto refusal = term_refusal(plan)) return refusal;
  for (const LoadNode* load : {plan->data, plan->weights}) {
    if (auto refusal = copy_before_refusal(program, block, load->buffer)) return refusal;
  }
  return std::nullopt;
}

/// Selects the value that a transform gives for point `at`: choices[at].
Expr choose(const Expr& at, std::span<const Expr> choices) {
  Expr value = choices.back();
  for (size_t i = choices.size() - 1; i-- > 0;)
    value = select(eq(at, static_cast<int64_t>(i)), choices[i], value);
  return value;
}

Expr half(const Expr& value) { return value * constant(0.5, value.dtype()); }

Expr of_data(const Expr& at, std::span<const Expr> d) {
  return choose(at, std::array{d[0] - d[2], d[1] + d[2], d[2] - d[1], d[1] - d[3]});
}
Expr of_weights(const Expr& at, std::span<const Expr> g) {
  const Expr ends = g[0] + g[2];
  return choose(at, std::array{g[0], half(ends + g[1]), half(ends - g[1]), g[2]});
}
Expr of_products(const Expr& at, std::span<const Expr> m) {
  return choose(at, std::array{m[0] + m[1] + m[2], m[1] - m[2] - m[3]});
}

using Transform = Expr (*)(const Expr&, std::span<const Expr>);

/// Applies the transform along each window, at `at`, to the elements `element(points)` of `count` points
/// each.
Expr transform_all(Transform transform, std::span<const Expr> at, int64_t count,
                   const std::function<Expr(const std::vector<int64_t>&)>& element,
                   const std::vector<int64_t>& points = {}) {
  if (points.size() == at.size()) return element(points);
  const Expr& here = at[points.size()];
  std::vector<Expr> values;
  for (int64_t point = 0; point < count; ++point) {
    std::vector<int64_t> next = points;
    next.push_back(point);
    values.push_back(transform_all(transform, at, count, element, next));
  }
  return transform(here, values);
}

/// The tile's number along window `which`, given its number `tile` among all tiles.
Expr tile_of(const Filtering& plan, size_t which, const Expr& tile) {
  if (plan.windows.size() == 1) return tile;
  const int64_t columns = plan.windows.back().tiles();
  return which == 0 ? floordiv(tile, columns) : floormod(tile, columns);
}

bool is_window_index(const Filtering& plan, size_t index, size_t Window::* which) {
  return std::ranges::any_of(plan.windows, [&](const Window& window) { return window.*which == index; });
}

/// The points of each window, then the other dimensions of `load`. If
/// `tiles` is not 0, the tiles replace the last window's dimension.
std::vector<int64_t> transformed_shape(const Filtering& plan, const LoadNode& load, size_t Window::* which,
                                       int64_t tiles) {
  std::vector<int64_t> shape(plan.windows.size(), kPoints);
  for (size_t d = 0; d < load.buffer->shape.size(); ++d) {
    if (!is_window_index(plan, d, which)) {
      shape.push_back(load.buffer->shape[d]);
    } else if (tiles > 0 && d == plan.windows.back().*which) {
      shape.push_back(tiles);
    }
  }
  return shape;
}

Buffer add_buffer(Program& program, const Buffer& like, std::string_view suffix, std::vector<int64_t> shape) {
  Buffer made = make_buffer(program.fresh_buffer_name(fmt::format("{}_{}", like->name, suffix)), like->dtype,
                            std::move(shape));
  program.intermediates.push_back(made);
  return made;
}

/// Loops over `to`, the transformed data of all tiles. Reads nothing beyond the last output.
StmtPtr make_data(Program& program, const Filtering& plan, const Buffer& to) {
  const LoadNode& data = *plan.data;
  const auto body = [&](const std::vector<Expr>& v) -> StmtPtr {
    const std::span<const Expr> at(v.data(), plan.windows.size());
    const auto element = [&](const std::vector<int64_t>& points) {
      std::vector<Expr> indices;
      Expr inside = bool_imm(true);
      Expr tile;
      for (size_t d = 0, next = at.size(); d < data.buffer->shape.size(); ++d) {
        if (is_window_index(plan, d, &Window::data_index) && d != plan.windows.back().data_index) {
          indices.emplace_back();
          continue;
        }
        if (d == plan.windows.back().data_index) tile = v[next];
        indices.push_back(v[next++]);
      }
      for (size_t w = 0; w < plan.windows.size(); ++w) {
        const Window& window = plan.windows[w];
        const Expr from = tile_of(plan, w, tile) * kOutputs + points[w];
        indices[window.data_index] = from + window.offset;
        if (window.extent % kOutputs != 0) inside = logical_and(inside, lt(from, window.extent + kTaps - 1));
      }
      const Expr value = load(data.buffer, indices);
      return select(inside, value, constant(0.0, value.dtype()));
    };
    return std::make_unique<Store>(to, v, transform_all(of_data, at, kPoints, element));
  };
  return make_block_nest(program, plan.stage.block->name + "_data", to->shape, body).nest;
}

StmtPtr make_weights(Program& program, const Filtering& plan, const Buffer& to) {
  const LoadNode& weights = *plan.weights;
  const auto body = [&](const std::vector<Expr>& v) -> StmtPtr {
    const std::span<const Expr> at(v.data(), plan.windows.size());
    const auto element = [&](const std::vector<int64_t>& points) {
      std::vector<Expr> indices;
      for (size_t d = 0, next = at.size(); d < weights.buffer->shape.size(); ++d)
        indices.push_back(is_window_index(plan, d, &Window::weights_index) ? Expr() : v[next++]);
      for (size_t w = 0; w < plan.windows.size(); ++w) indices[plan.windows[w].weights_index] = points[w];
      return load(weights.buffer, indices);
    };
    return std::make_unique<Store>(to, v, transform_all(of_weights, at, kTaps, element));
  };
  return make_block_nest(program, plan.stage.block->name + "_weights", to->shape, body).nest;
}

/// The iterators of the sums of products: the points; the block's spatial iterators, with tiles instead of
/// the last window's; and its reductions without the taps.
struct Products {
  std::vector<IterVar> iters;
  Substitution map;  // for the other iterators of the block
  std::vector<Expr> points;
  Expr tile;
  std::vector<int64_t> shape;
  std::vector<Expr> at;  // indices of the sum's element
};

Products products_of(const Filtering& plan) {
  Products made;
  const auto add = [&](const std::string& name, int64_t extent, IterKind kind) {
    made.iters.push_back({Var(name), extent, kind});
    const Expr var = made.iters.back().var;
    if (kind == IterKind::Spatial) {
      made.shape.push_back(extent);
      made.at.push_back(var);
    }
    return var;
  };
  for (size_t w = 0; w < plan.windows.size(); ++w)
    made.points.push_back(add(fmt::format("vp{}", w), kPoints, IterKind::Spatial));
  const Block& block = *plan.stage.block;
  for (size_t i = 0; i < block.iters.size(); ++i) {
    const IterVar& iter = block.iters[i];
    if (i == plan.windows.back().out) {
      made.tile = add("vtile", plan.tiles(), IterKind::Spatial);
    } else if (!is_window_index(plan, i, &Window::out) && !is_window_index(plan, i, &Window::tap)) {
      made.map.set(iter.var, add(iter.var->name, iter.extent, iter.kind));
    }
  }
  return made;
}

/// Replaces `load` by a load of the transformed elements.
Expr transformed_load(const Filtering& plan, const Products& products, const Buffer& from,
                      const LoadNode& load_node, size_t Window::* which, bool tiled) {
  std::vector<Expr> indices = products.points;
  for (size_t d = 0; d < load_node.indices().size(); ++d) {
    if (!is_window_index(plan, d, which)) {
      indices.push_back(substitute(load_node.indices()[d], products.map));
    } else if (tiled && d == plan.windows.back().*which) {
      indices.push_back(products.tile);
    }
  }
  return load(from, indices);
}

std::unique_ptr<Block> make_products(Program& program, const Filtering& plan, Products products,
                                     const Buffer& data, const Buffer& weights, const Buffer& sums) {
  const Expr term = transformed_load(plan, products, data, *plan.data, &Window::data_index, true) *
                    transformed_load(plan, products, weights, *plan.weights, &Window::weights_index, false);
  const bool reduces = std::ranges::any_of(
      products.iters, [](const IterVar& iter) { return iter.kind == IterKind::Reduction; });
  StmtPtr init;
  if (reduces) init = std::make_unique<Store>(sums, products.at, constant(0.0, sums->dtype));
  auto body = std::make_unique<Store>(sums, products.at, reduces ? load(sums, products.at) + term : term);
  std::vector<Expr> bindings;
  for (const IterVar& iter : products.iters) bindings.emplace_back(iter.var);
  return program.make_block(plan.stage.block->name + "_products", std::move(products.iters),
                            std::move(bindings), std::move(init), std::move(body));
}

/// New loops around a block, one for each iterator, in order.
StmtPtr make_loops(Program& program, std::unique_ptr<Block> block) {
  std::vector<IterDomain> loops;
  for (size_t i = 0; i < block->iters.size(); ++i) {
    std::string name = block->iters[i].var->name;
    if (name.size() > 1 && name.front() == 'v') name.erase(0, 1);
    loops.push_back({Var(name), block->iters[i].extent});
    block->bindings[i] = loops.back().var;
  }
  return program.make_nest(loops, std::move(block));
}

/// Makes the block, without its reductions, compute its elements from the sums of products.
void make_outputs(Block& block, const Filtering& plan, const Buffer& sums) {
  const Store& update = *plan.pattern.update;
  std::vector<Expr> at;
  Expr tile = 0;
  for (const Window& window : plan.windows) {
    const Expr out = block.iters[window.out].var;
    at.push_back(floormod(out, kOutputs));
    tile = tile * window.tiles() + floordiv(out, kOutputs);
  }
  const auto element = [&](const std::vector<int64_t>& points) {
    std::vector<Expr> indices(points.begin(), points.end());
    for (size_t i = 0; i < block.iters.size(); ++i) {
      if (i == plan.windows.back().out) {
        indices.push_back(tile);
      } else if (block.iters[i].kind != IterKind::Reduction && !is_window_index(plan, i, &Window::out)) {
        indices.emplace_back(block.iters[i].var);
      }
    }
    return load(sums, indices);
  };
  auto store = std::make_unique<Store>(update.buffer, update.indices,
                                       transform_all(of_products, at, kPoints, element));
  std::vector<IterVar> iters;
  std::ranges::copy_if(block.iters, std::back_inserter(iters),
                       [](const IterVar& iter) { return iter.kind != IterKind::Reduction; });
  block.iters = std::move(iters);
  block.bindings.assign(block.iters.size(), Expr());
  block.set_init(nullptr);
  block.set_body(std::move(store));
}

}  // namespace

BlockId winograd(Program& program, BlockId block_id) {
  Block& block = block_at(program, block_id, "winograd");
  Filtering plan;
  throw_refusal("winograd", program, plan_refusal(program, block, &plan));

  const Buffer data = add_buffer(program, plan.data->buffer, "points",
                                 transformed_shape(plan, *plan.data, &Window::data_index, plan.tiles()));
  const Buffer weights = add_buffer(program, plan.weights->buffer, "points",
                                    transformed_shape(plan, *plan.weights, &Window::weights_index, 0));
  Products products = products_of(plan);
  const Buffer sums = add_buffer(program, plan.stage.buffer, "points", products.shape);
  Stmt& nest = outermost_in_scope(block);
  insert_before(nest, make_data(program, plan, data));
  insert_before(nest, make_weights(program, plan, weights));
  std::unique_ptr<Block> sum = make_products(program, plan, std::move(products), data, weights, sums);
  const BlockId id = sum->id;
  StmtPtr sum_nest = make_loops(program, std::move(sum));
  Stmt* place = sum_nest.get();
  insert_before(nest, std::move(sum_nest));
  make_outputs(block, plan, sums);
  StmtPtr taken = take_out(block);
  insert_after(*place, make_loops(program, std::unique_ptr<Block>(static_cast<Block*>(taken.release()))));
  return id;
}

KindPtr winograd_kind() { return make_transformation("winograd", winograd, {"block"}); }

BlockRV Schedule::winograd(BlockRV block) { return as_handle<BlockRV>(execute(kind("winograd"), {block})); }

}  // namespace tunesmith
