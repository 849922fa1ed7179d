#include "analysis/touched_region.h"

#include <algorithm>

#include "analysis/buffer_uses.h"
#include "analysis/loop_tools.h"
#include "ir/walk_bound.h"
#include "tunesmith/affine/iter_map.h"
#include "tunesmith/affine/linear_form.h"
#include "tunesmith/ir/fold.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/support/contains.h"

namespace tunesmith {
namespace {

void bind_loop(const Stmt& stmt, Viewpoint& view) {
  const Loop* loop = stmt.as<Loop>();
  if (loop == nullptr) return;
  view.analyzer.bind(*loop);
  view.moving.push_back(loop->var);
}

/// A box around the loads of `buffer` in `block`; also around its stores if they count.
std::optional<Region> reach(const Block& block, std::span<const Expr> bindings, const Buffer& buffer,
                            Viewpoint view, bool stores) {
  std::optional<Region> region;
  Substitution iters = block.iters_at(bindings);
  for (const Stmt* part : {block.init(), block.body()}) {
    if (part == nullptr) continue;
    walk_bound(*part, iters, [&](const Stmt& stmt) {
      bind_loop(stmt, view);
      visit_accesses(stmt, [&](const AccessSite& access) {
        if (access.buffer != buffer || (access.load == nullptr && !stores)) return;
        const Region touched =
            relax_access(buffer, substitute(access.indices, iters), view.moving, view.analyzer);
        region = region ? unite(*region, touched, buffer, view.analyzer) : touched;
      });
    });
  }
  return region;
}

/// The indices of the only element of `buffer` that an instance of `block` stores to, over the loops around
/// and inside the block, which `view` gets. Nothing if it stores to others, or under a condition.
std::optional<std::vector<Expr>> only_store(const Block& block, const Buffer& buffer, Viewpoint& view) {
  std::optional<std::vector<Expr>> found;
  bool guarded = false;
  Substitution iters = block.iters_at(block.bindings);
  walk_bound(*block.body(), iters, [&](const Stmt& stmt) {
    bind_loop(stmt, view);
    const Block* inner = stmt.as<Block>();
    const Store* store = stmt.as<Store>();
    guarded =
        guarded || stmt.kind == StmtKind::If || (inner != nullptr && !is_const_int(inner->predicate, 1));
    if (store == nullptr || store->buffer != buffer) return;
    const std::vector<Expr> indices = substitute(store->indices, iters);
    guarded = guarded || store->mask || (found && !equal_indices(*found, indices));
    found = indices;
  });
  return guarded ? std::nullopt : found;
}

/// The parts of an index: standing + moving, where `moving` starts from 0.
struct IndexParts {
  DimRange range;
  LinearForm moving;
};

std::optional<IndexParts> split_index(const Expr& index, const Viewpoint& view) {
  LinearParts form = parts_of(view.analyzer.linear(index), view.moving);
  if (!form.mixed.empty()) return std::nullopt;
  int64_t extent = 1;
  if (!form.moving.terms.empty()) {
    const Interval span = view.analyzer.bounds(form.moving.to_expr());
    if (!span.bounded()) return std::nullopt;
    form.moving.constant = -span.min;
    form.standing.constant += span.min;
    extent = span.max - span.min + 1;
  }
  return IndexParts{{form.standing.to_expr(), extent}, std::move(form.moving)};
}

/// The positive integer ratio for which the sum of `terms` is `ratio` times the terms of `of`, if it exists.
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

/// Takes the ratio from the first term of `of`; it must be a positive integer.
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

/// Does every point of the box satisfy `condition`? Fast if each dimension is at most one loop, else by
/// iterator maps.
bool fills_box(const std::vector<IndexParts>& parts, const Expr& condition, const Viewpoint& view) {
  std::vector<const ExprNode*> used;
  bool simple = is_const_int(condition, 1);
  for (const IndexParts& part : parts) {
    if (part.moving.terms.empty()) continue;
    const LinearForm::Term& term = part.moving.terms[0];
    simple = simple && part.moving.terms.size() == 1 && term.atom.is(ExprKind::Var) &&
             (term.coefficient == 1 || term.coefficient == -1) && !contains(used, term.atom.get());
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
  for (const Var& var : view.moving) domains.push_back({var, view.analyzer.range_of(var)->max + 1});
  domains = used_domains(domains, bindings, Expr());
  return check_iter_map(bindings, extents, domains, condition).bijective;
}

/// True if values beyond the iterator's domain would index outside the buffer.
bool leaves_buffer(const Block& block, size_t iter, const Buffer& buffer) {
  const Store* store = body_store(block);
  if (store == nullptr || store->buffer != buffer) return false;
  for (size_t d = 0; d < store->indices.size(); ++d) {
    const bool plain = store->indices[d].get() == block.iters[iter].var.get();
    if (plain && buffer->shape[d] == block.iters[iter].extent) return true;
  }
  return false;
}

/// True if `condition` only restricts an iterator of the block to its domain, beyond which it would write
/// outside the buffer.
bool clips_domain(const Expr& condition, const Block& block, const Buffer& buffer, const Analyzer& analyzer) {
  const std::optional<LinearForm> slack = slack_of(condition, analyzer);
  if (!slack) return false;
  for (size_t i = 0; i < block.iters.size(); ++i) {
    if (!leaves_buffer(block, i, buffer)) continue;
    // binding in [0, extent), or its dividend in [0, divisor * extent)
    Expr value = block.bindings[i];
    int64_t extent = block.iters[i].extent;
    int64_t divisor = 1;
    if (value.is(ExprKind::FloorDiv) && as_const_int(value.arg(1), &divisor)) {
      extent *= divisor;
      value = Expr(value.arg(0));
    }
    const LinearForm binding = analyzer.linear(value);
    if (const auto lower = scaled(*slack, binding, 1, analyzer)) {
      // binding = r * x + rest >= 0 gives x >= ceil(-rest / r); slack = x + s.
      if (slack->constant >= floor_divide(lower->rest.max, lower->ratio)) return true;
    }
    if (const auto upper = scaled(*slack, binding, -1, analyzer)) {
      // binding = r * x + rest <= extent - 1 gives x <= floor((extent - 1 - rest) / r); slack = s - x.
      if (slack->constant >= floor_divide(extent - 1 - upper->rest.min, upper->ratio)) return true;
    }
  }
  return false;
}

/// Applies a condition over moving loops by cutting off the end of the box. False for an unsupported form.
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
  // The condition is over reduction loops only: it skips some steps for the same elements.
  if (!any) return true;
  if (!all) return false;
  const std::optional<LinearForm> slack = slack_of(condition, view.analyzer);
  for (IndexParts& part : parts) {
    if (!slack || ratio_of(*slack, part.moving, -1) != 1) continue;
    part.range.extent = std::min(part.range.extent, slack->constant + part.moving.constant + 1);
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
  return reach(block, bindings, buffer, view, /*stores=*/false);
}

std::optional<Region> touched_region(const Block& block, const Buffer& buffer, const Viewpoint& view) {
  return reach(block, block.bindings, buffer, view, /*stores=*/true);
}

std::optional<Region> written_region(const Block& block, const Buffer& buffer, const Stmt& above,
                                     std::vector<Expr>* conditions) {
  Viewpoint view = view_from(above, block);
  std::vector<Expr> moving_conditions;
  for (const Expr& condition : conjuncts(block.predicate)) {
    if (clips_domain(condition, block, buffer, view.analyzer)) continue;
    const std::vector<Var> vars = vars_of(condition);
    const auto moves = [&](const Var& var) { return contains(view.moving, var); };
    if (std::none_of(vars.begin(), vars.end(), moves)) {
      conditions->push_back(condition);
    } else if (std::all_of(vars.begin(), vars.end(), moves) &&
               (condition.is(ExprKind::Lt) || condition.is(ExprKind::Le))) {
      moving_conditions.push_back(condition);
    } else {
      return std::nullopt;
    }
  }
  const auto stored = only_store(block, buffer, view);
  if (!stored) return std::nullopt;
  std::vector<IndexParts> parts;
  for (const Expr& index : *stored) {
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
