#include <algorithm>
#include <bit>
#include <unordered_map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tunesmith/affine/linear_form.h"
#include "tunesmith/affine/region.h"
#include "tunesmith/ir/annotation_keys.h"
#include "tunesmith/ir/fold.h"
#include "tunesmith/ir/move_accesses.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/lower/passes.h"
#include "tunesmith/support/contains.h"

namespace tunesmith {
namespace {

/// The size of the largest access by one thread: a swizzle moves pieces of this size as a whole.
constexpr int64_t kPieceBytes = 16;

/// A load or a store of the buffer, in the statement that has it.
struct Use {
  Stmt* stmt = nullptr;
  std::vector<Expr> indices;
};

struct Uses {
  std::vector<Use> uses;
  bool loaded = false;
};

Stmt* common_ancestor(Stmt* a, Stmt* b) {
  while (!is_ancestor(*a, *b)) a = a->parent;
  return a;
}

std::vector<Uses> collect_uses(Program& program) {
  std::unordered_map<const BufferNode*, size_t> position;
  for (size_t i = 0; i < program.intermediates.size(); ++i) position[program.intermediates[i].get()] = i;
  std::vector<Uses> all(program.intermediates.size());
  walk_accesses(program.root(), [&](Stmt& stmt, const AccessSite& access) {
    const auto found = position.find(access.buffer.get());
    if (found == position.end()) return;
    Uses& uses = all[found->second];
    uses.uses.push_back({&stmt, {access.indices.begin(), access.indices.end()}});
    uses.loaded = uses.loaded || access.load != nullptr;
  });
  return all;
}

/// Do the iterations of the loop share the buffer's memory?
bool is_shared_over(const Loop& loop, const Buffer& buffer, const ExecutionModel& model) {
  if (loop.loop_kind != LoopKind::Bound) return false;
  const auto axis = model.find_axis(loop.thread);
  const MemoryScope* scope = model.find_scope(buffer->scope);
  return axis && scope != nullptr && axis->level >= model.depth_of(*scope);
}

/// The innermost statement around all uses in which each execution may allocate its own buffer.
Stmt* allocation_site(const Buffer& buffer, const Uses& uses, const BlockFacts& facts) {
  Stmt* site = uses.uses.front().stmt;
  for (const Use& use : uses.uses) site = common_ancestor(site, use.stmt);
  for (const BlockFacts::LoopCarried& carried : facts.loop_carried) {
    if (carried.buffer == buffer && is_ancestor(*carried.loop, *site)) site = carried.loop->parent;
  }
  // Inside a vector operation each lane would need its own buffer.
  for (Stmt* at = site; at != nullptr; at = at->parent) {
    const Loop* loop = at->as<Loop>();
    if (loop != nullptr && loop->loop_kind == LoopKind::Vectorized) site = at->parent;
  }
  return site;
}

/// The outermost of the loops around `site` whose iterations share the buffer, or null. `shared` gets the
/// variables of these loops; the other loops on the way reuse the elements in each iteration.
Loop* outermost_sharing(Stmt* site, const Buffer& buffer, const ExecutionModel& model,
                        std::vector<Var>& shared) {
  Loop* outermost = nullptr;
  for (Stmt* at = site; at != nullptr; at = at->parent) {
    Loop* loop = at->as<Loop>();
    if (loop == nullptr || !is_shared_over(*loop, buffer, model)) continue;
    shared.push_back(loop->var);
    outermost = loop;
  }
  return outermost;
}

/// The variables of the loops above `stmt` and inside `site`.
std::vector<Var> moving_vars(const Stmt& site, const Stmt& stmt) {
  std::vector<Var> moving;
  for (const Stmt* at = &stmt; at != &site; at = at->parent) {
    if (const Loop* loop = at->parent->as<Loop>(); loop != nullptr && at->parent != &site)
      moving.push_back(loop->var);
  }
  return moving;
}

/// The part of the variable's range in which  smaller < larger  is possible for some values of the other
/// variables.
Interval possible_range(const Var& var, const Expr& smaller, const Expr& larger, const Analyzer& analyzer) {
  Interval range = analyzer.range_of(var).value();
  LinearForm difference = analyzer.linear(smaller - larger);
  const int64_t step = difference.coefficient_of(var);
  if (step <= 0) return range;
  std::erase_if(difference.terms, [&](const LinearForm::Term& term) { return term.atom.get() == var.get(); });
  const Interval rest = analyzer.bounds(difference.to_expr());
  if (rest.min <= Interval::kMin) return range;
  const int64_t most = floor_divide(-rest.min - 1, step);
  if (most >= range.min) range.max = std::min(range.max, most);
  return range;
}

/// The ranges of the loops around. Threads that a condition excludes access nothing and need no room.
Analyzer known_at(const Stmt& stmt, const std::vector<Var>& threads) {
  Analyzer analyzer = Analyzer::at(stmt);
  for (const Stmt* at = &stmt; at->parent != nullptr; at = at->parent) {
    const If* branch = at->parent->as<If>();
    if (branch == nullptr || branch->then_case() != at) continue;
    for (const Expr& condition : conjuncts(branch->condition)) {
      if (!condition.is(ExprKind::Lt)) continue;
      for (const Var& thread : threads)
        analyzer.bind(thread, possible_range(thread, condition.arg(0), condition.arg(1), analyzer));
    }
  }
  return analyzer;
}

/// The swizzle for the rows of the placed buffer.
Swizzle swizzle_of(const Buffer& buffer, const std::vector<int64_t>& shape, const MemoryScope& scope) {
  const auto refuse = [&](std::string_view reason) {
    throw LowerError("storage_swizzle", reason, fmt::format("{}[{}]", buffer->name, fmt::join(shape, ", ")));
  };
  const auto power = [](int64_t value) { return std::countr_zero(static_cast<uint64_t>(value)); };
  const int64_t row = shape.back() * buffer->dtype.bytes();
  if (!std::has_single_bit(static_cast<uint64_t>(row)) || row < 2 * kPieceBytes)
    refuse("a row is no power of two of bytes, or too short to be swizzled");
  const int64_t banks = scope.banks * scope.bank_bytes;
  if (!std::has_single_bit(static_cast<uint64_t>(banks)) || banks < 2 * kPieceBytes)
    refuse("the banks deliver no power of two of bytes at once, or too few");
  Swizzle swizzle;
  swizzle.bits = power(std::min(row, banks) / kPieceBytes);
  swizzle.to = power(kPieceBytes / buffer->dtype.bytes());
  swizzle.from = power(std::max(row, banks) / buffer->dtype.bytes());
  return swizzle;
}

Buffer shrink(const Buffer& buffer, const Region& region, const BlockFacts& facts,
              const ExecutionModel& model) {
  std::vector<int64_t> shape;
  bool whole = true;
  for (const DimRange& range : region) {
    shape.push_back(range.extent);
    whole = whole && is_const_int(range.min, 0);
  }
  std::vector<int64_t> strides = aligned_strides(buffer, shape, facts);
  Swizzle swizzle;
  if (contains(facts.swizzled, buffer)) {
    if (!strides.empty())
      throw LowerError("storage_swizzle", "the rows to be swizzled are not contiguous", buffer->name);
    swizzle = swizzle_of(buffer, shape, *model.find_scope(buffer->scope));
  } else if (whole && shape == buffer->shape && strides.empty()) {
    return buffer;
  }
  return make_buffer(buffer->name, buffer->dtype, std::move(shape), buffer->scope, false, std::move(strides),
                     swizzle);
}

std::vector<Expr> shifted(std::span<const Expr> indices, const Region& region) {
  std::vector<Expr> result;
  for (size_t d = 0; d < indices.size(); ++d) result.push_back(indices[d] - region[d].min);
  return result;
}

/// Puts the statement under an Allocate.
void wrap_statement(Stmt& stmt, const Buffer& buffer) {
  auto allocate = std::make_unique<Allocate>(buffer, std::make_unique<Seq>());
  Allocate& around = *allocate;
  around.set_body(replace(stmt, std::move(allocate)));
}

/// Puts the body of `site` under an Allocate.
void wrap(Stmt& site, const Buffer& buffer) {
  if (Loop* loop = site.as<Loop>()) {
    StmtPtr body = loop->take_body();
    loop->set_body(std::make_unique<Allocate>(buffer, std::move(body)));
    return;
  }
  if (Seq* seq = site.as<Seq>()) {
    auto inner = std::make_unique<Seq>();
    while (!seq->children().empty()) inner->append(seq->remove(0));
    seq->append(std::make_unique<Allocate>(buffer, std::move(inner)));
    return;
  }
  wrap_statement(site, buffer);
}

void place(const Buffer& buffer, const Uses& uses, BlockFacts& facts, const ExecutionModel& model) {
  Stmt& made_at = *allocation_site(buffer, uses, facts);
  std::vector<Var> shared;
  Loop* around = outermost_sharing(&made_at, buffer, model, shared);
  Stmt& site = around != nullptr ? *around : made_at;
  const Analyzer outside = Analyzer::at(made_at);
  Region region;
  for (const Use& use : uses.uses) {
    std::vector<Var> moving = moving_vars(made_at, *use.stmt);
    moving.insert(moving.end(), shared.begin(), shared.end());
    const Region touched = relax_access(buffer, use.indices, moving, known_at(*use.stmt, shared));
    region = region.empty() ? touched : unite(region, touched, buffer, outside);
  }
  const Buffer placed = shrink(buffer, region, facts, model);
  if (placed != buffer) {
    move_accesses(site, buffer, placed,
                  [&](const Stmt&, std::span<const Expr> indices) { return shifted(indices, region); });
  }
  for (const Stmt* at = &made_at; at != nullptr; at = at->parent) {
    const Loop* loop = at->as<Loop>();
    if (loop != nullptr && loop->annotations.contains(kSoftwarePipeline))
      facts.privatised.push_back({placed, loop});
  }
  // Other launches at this level do not use the buffer.
  if (around != nullptr) {
    Stmt* outermost = around;
    while (const Allocate* other = outermost->parent->as<Allocate>()) {
      if (other->buffer->scope != placed->scope) break;
      outermost = outermost->parent;
    }
    wrap_statement(*outermost, placed);
  } else {
    wrap(site, placed);
  }
  std::replace(facts.doubled.begin(), facts.doubled.end(), buffer, placed);
  std::replace(facts.ordered.begin(), facts.ordered.end(), buffer, placed);
}

/// Removes stores to a buffer that nothing loads.
void remove_dead(Program& program, const Buffer& buffer) {
  const auto is_dead = [&](const Store& store) { return store.buffer == buffer; };
  for (Stmt* stmt : collect<Store>(program.root(), is_dead)) {
    // Removes the loops and conditions that become empty, too.
    while (stmt->parent->kind != StmtKind::Seq || stmt->parent->as<Seq>()->children().size() == 1) {
      if (stmt->parent->parent == nullptr) break;
      stmt = stmt->parent;
    }
    replace(*stmt, nullptr);
  }
}

}  // namespace

std::vector<int64_t> aligned_strides(const Buffer& buffer, const std::vector<int64_t>& shape,
                                     const BlockFacts& facts) {
  bool aligned = false;
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 0;) {
    if (d + 1 < shape.size()) strides[d] = strides[d + 1] * shape[d + 1];
    for (const auto& [of, wanted] : facts.aligned) {
      if (of != buffer || wanted.axis != d) continue;
      const int64_t missing = (wanted.offset - strides[d] % wanted.factor + wanted.factor) % wanted.factor;
      strides[d] += missing;
      aligned = aligned || missing != 0;
    }
  }
  return aligned ? strides : std::vector<int64_t>{};
}

void place_buffers(Program& program, BlockFacts& facts, const ExecutionModel& model) {
  bool removed = true;
  std::vector<Uses> uses;
  while (removed) {
    removed = false;
    uses = collect_uses(program);
    for (size_t i = 0; i < uses.size(); ++i) {
      if (uses[i].loaded || uses[i].uses.empty()) continue;
      remove_dead(program, program.intermediates[i]);
      removed = true;
    }
  }
  for (size_t i = 0; i < uses.size(); ++i) {
    if (!uses[i].uses.empty()) place(program.intermediates[i], uses[i], facts, model);
  }
  program.intermediates.clear();
}

}  // namespace tunesmith
