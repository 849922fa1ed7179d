#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "analysis/buffer_uses.h"
#include "analysis/loop_tools.h"
#include "analysis/touched_region.h"
#include "primitives/primitives.h"
#include "trace/kind_builder.h"
#include "tunesmith/affine/linear_form.h"
#include "tunesmith/ir/tree_surgery.h"
#include "tunesmith/support/contains.h"

namespace tunesmith {
namespace {

using Nest = std::vector<Loop*>;  // from the statement in the common sequence down to the named loop

std::optional<Refusal> nests_refusal(const std::vector<Loop*>& loops, std::vector<Nest>* nests) {
  for (size_t i = 1; i < loops.size(); ++i) {
    const Stmt* common = common_ancestor(*loops[i - 1], *loops[i]);
    if (common->kind != StmtKind::Seq)
      return Refusal{"a loop stands around another", loops[i]->var->name, loops[i]};
    for (size_t n = i - 1; n <= i; ++n) {
      Nest nest;
      for (Stmt* at = loops[n]; at != common; at = at->parent) {
        Loop* loop = at->as<Loop>();
        const bool only = nest.empty() || loop == nullptr || loop->body() == nest.front();
        if (loop == nullptr || !only)
          return Refusal{"a loop is not the only child of the one around", loops[n]->var->name, loops[n]};
        nest.insert(nest.begin(), loop);
      }
      if (nests->size() == n) nests->push_back(nest);
      check_invariant((*nests)[n] == nest, "only children lead to one sequence");
    }
    const Seq& seq = *common->as<Seq>();
    if (seq.index_of(*nests->back().front()) != seq.index_of(*(*nests)[i - 1].front()) + 1)
      return Refusal{"the loop nests do not directly follow one another", loops[i]->var->name, loops[i]};
  }
  return std::nullopt;
}

std::optional<Refusal> shape_refusal(const Nest& first, const Nest& other) {
  if (first.size() != other.size())
    return Refusal{"the loops are not equally deep", other.back()->var->name, other.back()};
  for (size_t level = 0; level < first.size(); ++level) {
    if (first[level]->const_extent() != other[level]->const_extent())
      return Refusal{"the loops have different extents",
                     fmt::format("{} and {}", first[level]->var->name, other[level]->var->name),
                     other[level]};
  }
  return std::nullopt;
}

/// True if different iterations of `var` access different elements: a[..] in one, b[..] in the other.
bool apart(const Region& a, const Region& b, const Var& var, const Analyzer& analyzer) {
  for (size_t d = 0; d < a.size(); ++d) {
    const LinearForm form = analyzer.linear(a[d].min);
    const LinearForm shift = analyzer.linear(a[d].min - b[d].min);
    const int64_t step = std::abs(form.coefficient_of(var));
    const bool hidden = !shift.terms.empty() || hides(form, var);
    if (!hidden && step + shift.constant >= b[d].extent && step - shift.constant >= a[d].extent) return true;
  }
  return false;
}

bool writes_buffer(const Block& block, const Buffer& buffer) {
  const std::vector<Buffer> written = buffers_written(block);
  return contains(written, buffer);
}

/// Requires that elements shared by two nests belong to one iteration only.
std::optional<Refusal> sharing_refusal(const Program& program, const Nest& first, const Block& a,
                                       const Nest& second, const Block& b) {
  Substitution same;
  for (size_t level = 0; level < first.size(); ++level) same.set(second[level]->var, first[level]->var);
  for (const Buffer& buffer : program.buffers()) {
    for (size_t level = 0; level < first.size(); ++level) {
      if (first[level]->const_extent() == 1) continue;  // it has only one iteration
      const Viewpoint view_a = view_from(*first[level], a);
      const auto touched_a = touched_region(a, buffer, view_a);
      auto touched_b = touched_region(b, buffer, view_from(*second[level], b));
      const bool written = writes_buffer(a, buffer) || writes_buffer(b, buffer);
      if (!touched_a || !touched_b || !written) break;
      for (DimRange& range : *touched_b) range.min = substitute(range.min, same);
      if (!apart(*touched_a, *touched_b, first[level]->var, view_a.analyzer))
        return Refusal{"different iterations of the loops may touch the same element",
                       fmt::format("of {}, by {} and {}", buffer->name, a.name, b.name), &b};
    }
  }
  return std::nullopt;
}

std::optional<Refusal> plan_refusal(const Program& program, const std::vector<Loop*>& loops,
                                    std::vector<Nest>* nests) {
  if (auto refusal = nests_refusal(loops, nests)) return refusal;
  std::optional<Refusal> refusal;
  for (size_t i = 0; i < nests->size(); ++i) {
    for (const Loop* loop : (*nests)[i]) require_plain_loop(program, *loop, "merge");
    if (auto shape = shape_refusal(nests->front(), (*nests)[i])) return shape;
  }
  for (size_t i = 0; i < nests->size(); ++i) {
    for (size_t j = i + 1; j < nests->size(); ++j) {
      for_each_outer_block(*loops[i], [&](const Block& a) {
        for_each_outer_block(*loops[j], [&](const Block& b) {
          if (!refusal) refusal = sharing_refusal(program, (*nests)[i], a, (*nests)[j], b);
        });
      });
    }
  }
  return refusal;
}

}  // namespace

LoopId merge(Program& program, std::span<const LoopId> ids) {
  std::vector<Loop*> loops;
  for (const LoopId id : ids) loops.push_back(&loop_at(program, id, "merge"));
  if (loops.size() < 2) throw ScheduleError("merge", "there are less than two loops", "", program);
  std::vector<Nest> nests;
  throw_refusal("merge", program, plan_refusal(program, loops, &nests));

  for (size_t i = 1; i < nests.size(); ++i) {
    StmtPtr body = loops[i]->take_body();
    Stmt* last = loops[0]->body();
    if (const Seq* seq = last->as<Seq>()) last = seq->children().back().get();
    insert_after(*last, std::move(body));
    for (size_t level = 0; level < nests[i].size(); ++level)
      replace_loop_var(*loops[0], nests[i][level]->var, nests[0][level]->var, Expr());
    take_out(*nests[i].front());
  }
  return loops[0]->id;
}

KindPtr merge_kind() { return make_transformation("merge", merge, {"loops"}); }

LoopRV Schedule::merge(const std::vector<LoopRV>& loops) {
  return as_handle<LoopRV>(execute(kind("merge"), {as_arg(loops)}));
}

}  // namespace tunesmith
