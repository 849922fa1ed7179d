#include "analysis/touched_region.h"

#include <algorithm>

#include "analysis/buffer_uses.h"
#include "analysis/loop_tools.h"
#include "tunesmith/affine/iter_map.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith {
namespace {

bool contains(std::span<const Var> vars, const ExprNode* var) {
  return std::any_of(vars.begin(), vars.end(), [&](const Var& known) { return known.get() == var; });
}

bool uses_any(const Expr& expr, std::span<const Var> vars) {
  return any_of_expr(expr,
                     [&](const Expr& part) { return part.is(ExprKind::Var) && contains(vars, part.get()); });
}

/// Walks a block's body with iterators replaced by what they are bound to.
class Reach {
 public:
  Reach(const Buffer& buffer, Viewpoint view, bool stores)
      : buffer_(buffer), view_(std::move(view)), stores_(stores) {}

  void enter(const Block& block, std::span<const Expr> bindings) {
    for (size_t i = 0; i < block.iters.size(); ++i) iters_.set(block.iters[i].var, bindings[i]);
    if (block.init() != nullptr) visit(*block.init());
    visit(*block.body());
  }

  std::optional<Region> region;

 private:
  void visit(const Stmt& stmt) {
    if (const Block* block = stmt.as<Block>()) {
      std::vector<Expr> bindings;
      for (const Expr& binding : block->bindings) bindings.push_back(substitute(binding, iters_));
      enter(*block, bindings);
      return;
    }
    if (const Loop* loop = stmt.as<Loop>()) {
      view_.analyzer.bind(loop->var, loop->const_extent());
      view_.moving.push_back(loop->var);
    }
    const Store* store = stmt.as<Store>();
    if (stores_ && store != nullptr && store->buffer == buffer_) add(store->indices);
    visit_exprs(stmt, [&](const Expr& expr) {
      walk_expr(expr, [&](const Expr& part) {
        const LoadNode* load = part.as<LoadNode>();
        if (load != nullptr && load->buffer == buffer_) add(load->indices());
      });
    });
    visit_children(stmt, [&](const Stmt& child) { visit(child); });
  }

  void add(std::span<const Expr> indices) {
    std::vector<Expr> over_loops;
    over_loops.reserve(indices.size());
    for (const Expr& index : indices) over_loops.push_back(substitute(index, iters_));
    const Region touched = relax_access(buffer_, over_loops, view_.moving, view_.analyzer);
    region = region ? unite(*region, touched, buffer_, view_.analyzer) : touched;
  }

  const Buffer& buffer_;
  Viewpoint view_;
  bool stores_;
  Substitution iters_;
};

/// The only store to `buffer` in a block: its indices over the loops around and inside the block.
class OnlyStore {
 public:
  OnlyStore(const Buffer& buffer, Viewpoint* view) : buffer_(buffer), view_(view) {}

  bool find(const Block& block) {
    for (size_t i = 0; i < block.iters.size(); ++i)
      iters_.set(block.iters[i].var, substitute(block.bindings[i], iters_));
    visit(*block.body());
    return count_ == 1 && !guarded_;
  }

  std::vector<Expr> indices;

 private:
  void visit(const Stmt& stmt) {
    if (const Block* block = stmt.as<Block>()) {
      guarded_ = guarded_ || !is_const_int(block->predicate, 1);
      find(*block);
      return;
    }
    if (const Loop* loop = stmt.as<Loop>()) {
      view_->analyzer.bind(loop->var, loop->const_extent());
      view_->moving.push_back(loop->var);
    }
    const Store* store = stmt.as<Store>();
    if (store != nullptr && store->buffer == buffer_) {
      ++count_;
      guarded_ = guarded_ || store->mask;
      indices.clear();
      for (const Expr& index : store->indices) indices.push_back(substitute(index, iters_));
    }
    guarded_ = guarded_ || stmt.kind == StmtKind::If;
    visit_children(stmt, [&](const Stmt& child) { visit(child); });
  }

  const Buffer& buffer_;
  Viewpoint* view_;
  Substitution iters_;
  int count_ = 0;
  bool guarded_ = false;
};

/// standing + moving, the latter starting from 0.
struct IndexParts {
  DimRange range;
  LinearForm moving;
};

std::optional<IndexParts> split_index(const Expr& index, const Viewpoint& view) {
  LinearForm form = view.analyzer.linear(index);
  IndexParts parts;
  LinearForm standing{{}, form.constant};
  for (const auto& term : form.terms) {
    if (!uses_any(term.atom, view.moving)) {
      standing.terms.push_back(term);
      continue;
    }
    for (const Var& var : vars_of(term.atom)) {
      if (!contains(view.moving, var.get())) return std::nullopt;
    }
    parts.moving.terms.push_back(term);
  }
  int64_t extent = 1;
  if (!parts.moving.terms.empty()) {
    const Interval span = view.analyzer.bounds(parts.moving.to_expr());
    if (!span.bounded()) return std::nullopt;
    parts.moving.constant = -span.min;
    standing.constant += span.min;
    extent = span.max - span.min + 1;
  }
  parts.range = {standing.to_expr(), extent};
  return parts;
}

/// Of a < b or a <= b: it holds where the answer is 0 or more.
LinearForm slack_of(const Expr& condition, const Analyzer& analyzer) {
  LinearForm slack = analyzer.linear(condition.arg(1) - condition.arg(0));
  if (condition.is(ExprKind::Lt)) slack.constant -= 1;
  return slack;
}

/// sum of `terms` is `ratio` times the terms of `of`, for one positive whole ratio.
std::optional<int64_t> ratio_of(const LinearForm& of, const LinearForm& form, int64_t sign) {
  if (form.terms.size() != of.terms.size() || form.terms.empty()) return std::nullopt;
  std::optional<int64_t> ratio;
  for (size_t i = 0; i < form.terms.size(); ++i) {
    const int64_t c = form.terms[i].coefficient;
    const int64_t g = of.terms[i].coefficient * sign;
    if (!equal(form.terms[i].atom, of.terms[i].atom) || c % g != 0 || c / g < 1) return std::nullopt;
    if (ratio && *ratio != c / g) return std::nullopt;
    ratio = c / g;
  }
  return ratio;
}

/// form = ratio * sign * (the terms of `of`) + rest.
struct Scaled {
  int64_t ratio = 1;
  Interval rest;
};

/// With the positive whole ratio that the first term of `of` tells.
std::optional<Scaled> scaled(const LinearForm& of, const LinearForm& form, int64_t sign,
                             const Analyzer& analyzer) {
  if (of.terms.empty()) return std::nullopt;
  const LinearForm::Term& first = of.terms.front();
  const auto same = std::find_if(form.terms.begin(), form.terms.end(),
                                 [&](const LinearForm::Term& term) { return equal(term.atom, first.atom); });
  const int64_t unit = first.coefficient * sign;
  if (same == form.terms.end() || same->coefficient % unit != 0 || same->coefficient / unit < 1)
    return std::nullopt;
  Scaled result{same->coefficient / unit, {}};
  const LinearForm whole{of.terms, 0};
  result.rest = analyzer.bounds(form.to_expr() - whole.to_expr() * (result.ratio * sign));
  if (!result.rest.bounded()) return std::nullopt;
  return result;
}

int64_t floor_division(int64_t a, int64_t b) { return a / b - (a % b != 0 && a < 0 ? 1 : 0); }

/// Every value of the box is taken where `condition` holds: quickly where each dimension is one loop or none,
/// else by the theory of iterator maps.
bool fills_box(const std::vector<IndexParts>& parts, const Expr& condition, const Viewpoint& view) {
  std::vector<const ExprNode*> used;
  bool simple = is_const_int(condition, 1);
  for (const IndexParts& part : parts) {
    if (part.moving.terms.empty()) continue;
    const LinearForm::Term& term = part.moving.terms[0];
    simple = simple && part.moving.terms.size() == 1 && term.atom.is(ExprKind::Var) &&
             (term.coefficient == 1 || term.coefficient == -1) &&
             std::find(used.begin(), used.end(), term.atom.get()) == used.end();
    used.push_back(term.atom.get());
  }
  if (simple) return true;

  std::vector<Expr> bindings;
  std::vector<int64_t> extents;
  for (const IndexParts& part : parts) {
    bindings.push_back(part.moving.to_expr());
    extents.push_back(part.range.extent);
  }
  std::vector<IterDomain> domains;
  for (const Var& var : view.moving) {
    const bool appears = std::any_of(bindings.begin(), bindings.end(),
                                     [&](const Expr& binding) { return uses_var(binding, var); });
    if (appears) domains.push_back({var, view.analyzer.range_of(var)->max + 1});
  }
  return check_iter_map(bindings, extents, domains, condition).bijective;
}

/// Beyond its domain the iterator would index what lies outside the buffer.
bool leaves_buffer(const Block& block, size_t iter, const Buffer& buffer) {
  const Store* store = body_store(block);
  if (store == nullptr || store->buffer != buffer) return false;
  for (size_t d = 0; d < store->indices.size(); ++d) {
    const bool plain = store->indices[d].get() == block.iters[iter].var.get();
    if (plain && buffer->shape[d] == block.iters[iter].extent) return true;
  }
  return false;
}

/// `condition` says no more than that an iterator of the block is in its domain, and what it would write
/// beyond is outside the buffer anyway.
bool clips_domain(const Expr& condition, const Block& block, const Buffer& buffer, const Analyzer& analyzer) {
  if (!condition.is(ExprKind::Lt) && !condition.is(ExprKind::Le)) return false;
  const LinearForm slack = slack_of(condition, analyzer);
  for (size_t i = 0; i < block.iters.size(); ++i) {
    if (!leaves_buffer(block, i, buffer)) continue;
    // binding in [0, extent), or what it divides in [0, divisor * extent)
    Expr value = block.bindings[i];
    int64_t extent = block.iters[i].extent;
    int64_t divisor = 1;
    if (value.is(ExprKind::FloorDiv) && as_const_int(value.arg(1), &divisor)) {
      extent *= divisor;
      value = Expr(value.arg(0));
    }
    const LinearForm binding = analyzer.linear(value);
    if (const auto lower = scaled(slack, binding, 1, analyzer)) {
      // binding = r * x + rest >= 0 gives x >= ceil(-rest / r); slack = x + s.
      if (slack.constant >= floor_division(lower->rest.max, lower->ratio)) return true;
    }
    if (const auto upper = scaled(slack, binding, -1, analyzer)) {
      // binding = r * x + rest <= extent - 1 gives x <= floor((extent - 1 - rest) / r); slack = s - x.
      if (slack.constant >= floor_division(extent - 1 - upper->rest.min, upper->ratio)) return true;
    }
  }
  return false;
}

/// A condition over loops that move: takes what it cuts off from the box's end. False when it is of a form
/// that is not understood here.
bool narrow(std::vector<IndexParts>& parts, const Expr& condition, const Viewpoint& view, Expr* kept) {
  bool all = true;
  bool any = false;
  for (const Var& var : vars_of(condition)) {
    const bool indexed = std::any_of(parts.begin(), parts.end(), [&](const IndexParts& part) {
      return std::any_of(part.moving.terms.begin(), part.moving.terms.end(),
                         [&](const LinearForm::Term& term) { return uses_var(term.atom, var); });
    });
    all = all && indexed;
    any = any || indexed;
  }
  // Of reduction loops alone: some of the steps towards the same elements.
  if (!any) return true;
  if (!all) return false;
  const LinearForm slack = slack_of(condition, view.analyzer);
  for (IndexParts& part : parts) {
    if (ratio_of(slack, part.moving, -1) != 1) continue;
    part.range.extent = std::min(part.range.extent, slack.constant + part.moving.constant + 1);
    *kept = logical_and(*kept, condition);
    return part.range.extent >= 1;
  }
  return false;
}

}  // namespace

Viewpoint view_from(const Stmt& above, const Block& block) {
  Viewpoint view{{}, Analyzer::at(block)};
  for (const Stmt* at = block.parent; at != &above; at = at->parent) {
    if (const Loop* loop = at->as<Loop>()) view.moving.push_back(loop->var);
  }
  return view;
}

std::optional<Region> read_region(const Block& block, std::span<const Expr> bindings, const Buffer& buffer,
                                  const Viewpoint& view) {
  Reach reach(buffer, view, /*stores=*/false);
  reach.enter(block, bindings);
  return std::move(reach.region);
}

std::optional<Region> touched_region(const Block& block, const Buffer& buffer, const Viewpoint& view) {
  Reach reach(buffer, view, /*stores=*/true);
  reach.enter(block, block.bindings);
  return std::move(reach.region);
}

std::optional<Region> written_region(const Block& block, const Buffer& buffer, const Stmt& above,
                                     std::vector<Expr>* conditions) {
  Viewpoint view = view_from(above, block);
  std::vector<Expr> moving_conditions;
  for (const Expr& condition : conjuncts(block.predicate)) {
    if (clips_domain(condition, block, buffer, view.analyzer)) continue;
    const std::vector<Var> vars = vars_of(condition);
    const auto moves = [&](const Var& var) { return contains(view.moving, var.get()); };
    if (std::none_of(vars.begin(), vars.end(), moves)) {
      conditions->push_back(condition);
    } else if (std::all_of(vars.begin(), vars.end(), moves) &&
               (condition.is(ExprKind::Lt) || condition.is(ExprKind::Le))) {
      moving_conditions.push_back(condition);
    } else {
      return std::nullopt;
    }
  }
  OnlyStore store(buffer, &view);
  if (!store.find(block)) return std::nullopt;
  std::vector<IndexParts> parts;
  for (const Expr& index : store.indices) {
    auto part = split_index(index, view);
    if (!part) return std::nullopt;
    parts.push_back(std::move(*part));
  }
  Expr kept = bool_imm(true);
  for (const Expr& condition : moving_conditions) {
    if (!narrow(parts, condition, view, &kept)) return std::nullopt;
  }
  if (!fills_box(parts, kept, view)) return std::nullopt;
  Region region;
  for (IndexParts& part : parts) region.push_back(std::move(part.range));
  return region;
}

bool covers_within(const Region& outer, const Region& inner, const Buffer& buffer, const Analyzer& analyzer) {
  for (size_t d = 0; d < outer.size(); ++d) {
    const Interval shift = analyzer.bounds(inner[d].min - outer[d].min);
    const bool begins = shift.min >= 0 || analyzer.bounds(outer[d].min).max <= 0;
    const bool ends = shift.max + inner[d].extent <= outer[d].extent ||
                      analyzer.bounds(outer[d].min).min + outer[d].extent >= buffer->shape[d];
    if (!begins || !ends) return false;
  }
  return true;
}

}  // namespace tunesmith
