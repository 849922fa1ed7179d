#include "launch.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "bulk_copy.h"
#include "tunesmith/grid/tile_order.h"
#include "tunesmith/ir/printer.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/support/contains.h"

namespace tunesmith {
namespace {

/// The statement itself, or the only statement of a sequence.
Stmt& only_statement(Stmt& stmt) {
  const Seq* seq = stmt.as<Seq>();
  return seq != nullptr && seq->children().size() == 1 ? *seq->children().front() : stmt;
}

}  // namespace

Launch::Launch(Program& program, BlockFacts& facts, const LowerOptions& options, Stmt& root_statement)
    : program_(program),
      facts_(facts),
      model_(options.execution),
      first_thread_level_(model_.first_synchronising()),
      body_(&root_statement) {
  find_grid(root_statement);
  find_calls(options);
  find_threads();
  find_producers(options);
  check_calls();
  check_limits();
}

void Launch::refuse(std::string_view reason, const std::string& detail) {
  throw LowerError("join_threads", reason, detail);
}

const std::string& Launch::thread_level() const {
  return model_.levels[threads_.empty() ? first_thread_level_ : threads_.front().axis.level].name;
}

void Launch::find_grid(Stmt& root_statement) {
  for (Stmt* at = &root_statement;; at = &only_statement(*grid_.back()->body())) {
    body_ = at;
    Loop* loop = at->as<Loop>();
    if (loop == nullptr || loop->loop_kind != LoopKind::Bound) break;
    if (model_.find_axis(loop->thread)->level >= first_thread_level_) break;
    grid_.push_back(loop);
    if (!tile_order_of(*loop)) {
      loop->annotations.erase(kTileColumns);
      loop->annotations.erase(kTileGroup);
    }
  }
  walk(*body_, [&](const Stmt& stmt) {
    const Loop* loop = stmt.as<Loop>();
    if (loop != nullptr &&
        (loop->annotations.contains(kTileColumns) || loop->annotations.contains(kTileGroup)))
      refuse("tiles are ordered along a loop that launches no blocks", loop->var->name);
    if (loop != nullptr && loop->loop_kind == LoopKind::Bound &&
        model_.find_axis(loop->thread)->level < first_thread_level_) {
      refuse("a loop of the launch does not stand around all that it launches",
             fmt::format("{}, bound to {}", loop->var->name, loop->thread));
    }
  });
}

void Launch::find_calls(const LowerOptions& options) {
  for (Loop* loop : collect<Loop>(*body_)) {
    const TensorIntrinsicPtr intrinsic = called_intrinsic(loop->annotations, options.intrinsics);
    if (intrinsic == nullptr || intrinsic->level.empty()) continue;
    const ExecutionLevel* level = model_.find_level(intrinsic->level);
    const size_t position = level == nullptr ? 0 : static_cast<size_t>(level - model_.levels.data());
    const auto axis = level == nullptr ? std::nullopt : model_.group_axis(position);
    if (!axis)
      refuse("the target has no such groups",
             fmt::format("{}, which '{}' is for", intrinsic->level, intrinsic->name));
    calls_.push_back({loop, position});
    loop->annotations[kTogetherAlong] = model_.axis_name(*axis);
  }
}

void Launch::complete_groups(std::map<ExecutionModel::Axis, int64_t>& extents) const {
  std::set<size_t> levels;
  for (const auto& [axis, extent] : extents) levels.insert(axis.level);
  for (const GroupCall& call : calls_) levels.insert(call.level);
  for (const size_t level : levels) {
    const auto members = model_.group_axis(level);
    if (!members) continue;
    const int64_t count = model_.levels[level].group;
    extents.try_emplace(*members, count);
    for (const auto& [axis, extent] : extents) {
      if (axis.level != members->level || (axis == *members && extent == count)) continue;
      refuse("a group has another number of members than loops run over",
             fmt::format("{} of {}, of {} in each {}", extent, model_.axis_name(axis), count,
                         model_.levels[level].name));
    }
  }
}

void Launch::check_calls() const {
  for (const GroupCall& call : calls_) {
    for (const Loop* loop : loops_above(*call.loop)) {
      const auto axis = thread_axis(*loop);
      if (axis && threads_[*axis].axis.level > call.level)
        refuse("a call of a group stands in a loop over the group's members", loop->var->name);
    }
  }
}

void Launch::find_threads() {
  const auto is_thread_loop = [](const Loop& loop) { return loop.loop_kind == LoopKind::Bound; };
  const std::vector<Loop*> loops = collect<Loop>(*body_, is_thread_loop);
  std::map<ExecutionModel::Axis, int64_t> extents;
  for (const Loop* loop : loops) {
    int64_t& extent = extents[*model_.find_axis(loop->thread)];
    extent = std::max(extent, loop->const_extent());
    for (const BlockFacts::LoopCarried& carried : facts_.loop_carried) {
      if (carried.loop == loop) refuse("a loop over threads carries a reduction", loop->var->name);
    }
  }
  complete_groups(extents);
  for (const auto& [axis, extent] : extents) {
    std::string name = model_.axis_name(axis);
    std::string variable = name;
    std::ranges::replace(variable, '.', '_');
    threads_.push_back({axis, std::move(name), {Var(variable), extent}});
  }
  // Outermost first: the first axis of a level varies fastest.
  std::ranges::stable_sort(threads_, [](const ThreadAxis& a, const ThreadAxis& b) {
    return a.axis.level != b.axis.level ? a.axis.level < b.axis.level : a.axis.axis > b.axis.axis;
  });
  for (Loop* loop : loops) {
    const Var& shared = threads_[*thread_axis(*loop)].domain.var;
    substitute_in(*loop->body(), {{loop->var, shared}});
    loop->var = shared;
  }
}

void Launch::find_producers(const LowerOptions& options) {
  const auto fetches = [&](const Loop& loop) { return is_bulk_copy(loop, options); };
  for (Loop* loop : collect<Loop>(*body_)) {
    if (!loop->annotations.contains(kSoftwarePipeline) || find_first<Loop>(*loop, fetches) == nullptr)
      continue;
    if (threads_.empty()) refuse("a launch of one thread has no producer of its own", loop->var->name);
    facts_.producer_loops.push_back({loop, threads_.front().name});
    for (const GroupCall& call : calls_) {
      if (is_ancestor(*loop, *call.loop) && call.level != threads_.front().axis.level)
        refuse("a producer is one of other groups than those that the calls are of", loop->var->name);
    }
    has_producer_ = true;
  }
  if (has_producer_) ++threads_.front().domain.extent;
}

void Launch::check_limits() const {
  std::map<size_t, int64_t> together;
  const auto count = [&](const std::string& name, int64_t extent) {
    const ExecutionModel::Axis axis = *model_.find_axis(name);
    const ExecutionLevel& level = model_.levels[axis.level];
    int64_t& product = together.try_emplace(axis.level, 1).first->second;
    product *= extent;
    if (extent > level.most[axis.axis] || product > level.max_together) {
      refuse("a level has fewer iterations than the program needs",
             fmt::format("{} of {}, {} of {} together, of at most {} and {}", extent, name, product,
                         level.name, level.most[axis.axis], level.max_together));
    }
  };
  for (const Loop* loop : grid_) count(loop->thread, loop->const_extent());
  for (const ThreadAxis& thread : threads_) count(thread.name, thread.domain.extent);
}

bool Launch::falls_apart(const Stmt& stmt) const {
  if (holds_thread_loop(stmt)) return true;
  const auto holds_call = [&](const GroupCall& call) { return is_ancestor(stmt, *call.loop); };
  if (std::ranges::none_of(calls_, holds_call) || call_around(stmt) != nullptr) return false;
  // One group executes all calls, in order; but its members wait for one another only at barriers.
  std::set<const BufferNode*> read;
  std::set<const BufferNode*> written;
  bool otherwise = false;
  walk_accesses(stmt, [&](const Stmt& at, const AccessSite& access) {
    otherwise = otherwise || call_around(at) == nullptr;
    if (depth_of(access.buffer) > first_thread_level_) return;
    (access.load == nullptr ? written : read).insert(access.buffer.get());
  });
  return otherwise ||
         std::ranges::any_of(written, [&](const BufferNode* buffer) { return read.contains(buffer); });
}

bool Launch::holds_thread_loop(const Stmt& stmt) const {
  return find_first<Loop>(stmt, [&](const Loop& loop) { return thread_axis(loop).has_value(); }) != nullptr;
}

const Launch::GroupCall* Launch::call_in(const Stmt& stmt) const {
  const auto found =
      std::ranges::find_if(calls_, [&](const GroupCall& call) { return is_ancestor(stmt, *call.loop); });
  return found == calls_.end() ? nullptr : &*found;
}

const Launch::GroupCall* Launch::call_around(const Stmt& stmt) const {
  const auto found =
      std::ranges::find_if(calls_, [&](const GroupCall& call) { return is_ancestor(*call.loop, stmt); });
  return found == calls_.end() ? nullptr : &*found;
}

std::optional<size_t> Launch::thread_axis(const Loop& loop) const {
  if (loop.loop_kind != LoopKind::Bound) return std::nullopt;
  const auto found = std::ranges::find(threads_, loop.thread, &ThreadAxis::name);
  if (found == threads_.end()) return std::nullopt;
  return static_cast<size_t>(found - threads_.begin());
}

bool Launch::differs_between_threads(const Expr& condition) const {
  return any_of_expr(condition, [&](const Expr& part) {
    return part.is(ExprKind::Load) || std::ranges::any_of(threads_, [&](const ThreadAxis& thread) {
             return part.get() == thread.domain.var.get();
           });
  });
}

Launch::Accesses Launch::accesses_of(const Buffer& buffer) const {
  Accesses accesses;
  walk_accesses(*body_, [&](const Stmt& stmt, const AccessSite& access) {
    if (access.buffer != buffer) return;
    accesses.push_back({&stmt, {access.indices.begin(), access.indices.end()}, access.load == nullptr});
  });
  return accesses;
}

size_t Launch::depth_of(const Buffer& buffer) const {
  const MemoryScope* scope = model_.find_scope(buffer->scope);
  return scope == nullptr ? 0 : model_.depth_of(*scope);
}

const Stmt& Launch::piece_of(const Stmt& stmt) const {
  const Stmt* piece = &stmt;
  while (piece != body_ && !falls_apart(*piece->parent)) piece = piece->parent;
  return *piece;
}

bool Launch::used_by_one_thread(const Buffer& buffer, const Accesses& accesses) const {
  const Stmt* at = accesses.front().stmt;
  while (at != body_ && !holds_thread_loop(*at->parent)) at = at->parent;
  const Stmt& piece = *at;
  return std::ranges::all_of(accesses,
                             [&](const LaunchAccess& access) { return is_ancestor(piece, *access.stmt); }) &&
         std::ranges::none_of(facts_.loop_carried, [&](const BlockFacts::LoopCarried& carried) {
           return carried.buffer == buffer && carried.loop != nullptr && is_ancestor(*carried.loop, piece) &&
                  is_ancestor(*body_, *carried.loop) && carried.loop != &piece;
         });
}

IterDomain Launch::domain_of_loops(const ThreadAxis& thread) const {
  const bool one_less = has_producer_ && &thread == &threads_.front();
  return {thread.domain.var, thread.domain.extent - (one_less ? 1 : 0)};
}

std::vector<IterDomain> Launch::domains_around(const Accesses& accesses) const {
  std::vector<IterDomain> domains;
  for (const ThreadAxis& thread : threads_) {
    const bool used = std::ranges::any_of(accesses, [&](const LaunchAccess& access) {
      return std::ranges::any_of(loops_above(*access.stmt),
                                 [&](const Loop* loop) { return loop->var == thread.domain.var; });
    });
    if (used) domains.push_back(domain_of_loops(thread));
  }
  return domains;
}

std::vector<IterDomain> Launch::common_domains(const Accesses& accesses) const {
  std::vector<IterDomain> domains;
  for (const Loop* loop : loops_above(*accesses.front().stmt)) {
    const auto axis = thread_axis(*loop);
    if (!axis || !std::ranges::all_of(
                     accesses, [&](const LaunchAccess& access) { return is_ancestor(*loop, *access.stmt); }))
      continue;
    domains.push_back(domain_of_loops(threads_[*axis]));
  }
  return domains;
}

void Launch::move_to_thread(const Buffer& buffer) {
  const auto own = std::ranges::find_if(model_.scopes, [&](const MemoryScope& scope) {
    return model_.depth_of(scope) == model_.levels.size();
  });
  if (own == model_.scopes.end()) return;
  const Buffer moved =
      make_buffer(buffer->name, buffer->dtype, buffer->shape, own->name, buffer->constant, buffer->strides);
  program_.swap_buffer(buffer, moved);
  for (BlockFacts::LoopCarried& carried : facts_.loop_carried) {
    if (carried.buffer == buffer) carried.buffer = moved;
  }
  for (BlockFacts::Aligned& aligned : facts_.aligned) {
    if (aligned.buffer == buffer) aligned.buffer = moved;
  }
  std::ranges::replace(facts_.doubled, buffer, moved);
}

bool Launch::is_used_elsewhere(const Buffer& buffer) const {
  bool elsewhere = false;
  walk_accesses(program_.root(), [&](const Stmt& stmt, const AccessSite& access) {
    elsewhere = elsewhere || (access.buffer == buffer && !is_ancestor(*body_, stmt));
  });
  return elsewhere;
}

void Launch::check_shared(const Buffer& buffer, const Accesses& accesses) const {
  // For a buffer with other users, bind() has checked that iterations write different elements.
  if (std::ranges::none_of(accesses, &LaunchAccess::writes) || is_used_elsewhere(buffer)) return;
  std::vector<IterDomain> grid;
  for (const Loop* loop : grid_) grid.push_back({loop->var, loop->const_extent()});
  // bind() allows all iterations to write the same elements if nothing outside uses them:
  // correct in sequence, but concurrently only if each iteration has its own memory.
  if (depth_of(buffer) == 0 && !touch_different_elements(buffer, accesses, grid, {}, {}))
    refuse("parts of the launch write one element of a buffer that they share", buffer->name);
  if (!touch_different_elements(buffer, accesses, common_domains(accesses), grid_vars(), {}))
    refuse("threads write one element of a buffer that they share", buffer->name);
}

void Launch::check_owned(const Buffer& buffer, const Accesses& accesses, size_t depth) const {
  for (const LaunchAccess& access : accesses) {
    const GroupCall* call = call_around(*access.stmt);
    if (call == nullptr && depth == model_.levels.size()) continue;
    if (call == nullptr)
      refuse("what a group holds is used otherwise than by a call of the group", buffer->name);
    if (call->level + 1 != depth)
      refuse("a call of a group uses what belongs to another level", buffer->name);
  }
  const std::vector<IterDomain> around = domains_around(accesses);
  if (!touch_different_elements(buffer, accesses, around, grid_vars(), {}) &&
      !elements_tell_iteration(accesses, around) && !used_by_one_thread(buffer, accesses))
    refuse("threads use one element of a buffer that each has for itself", buffer->name);
}

bool Launch::meets_calls(const Accesses& accesses) const {
  bool called = false;
  bool otherwise = false;
  bool written = false;
  bool read = false;
  for (const LaunchAccess& access : accesses) {
    (call_around(*access.stmt) == nullptr ? otherwise : called) = true;
    (access.writes ? written : read) = true;
  }
  return called && written && (read || otherwise);
}

std::vector<Var> Launch::vars_around_pieces(const Accesses& accesses) const {
  std::vector<Var> vars;
  for (const LaunchAccess& access : accesses) {
    for (const Stmt* at = &piece_of(*access.stmt); at != body_; at = at->parent) {
      const Loop* loop = at->parent->as<Loop>();
      if (loop != nullptr && loop->loop_kind != LoopKind::Bound) vars.push_back(loop->var);
    }
  }
  return vars;
}

std::vector<Var> Launch::grid_vars() const {
  std::vector<Var> vars;
  for (const Loop* loop : grid_) vars.push_back(loop->var);
  return vars;
}

void Launch::settle_buffers() {
  for (const Buffer& buffer : std::vector<Buffer>(program_.intermediates)) {
    const Accesses accesses = accesses_of(buffer);
    const bool called = std::ranges::any_of(
        accesses, [&](const LaunchAccess& access) { return call_around(*access.stmt) != nullptr; });
    if (buffer->scope == kScopeGlobal && !accesses.empty() && !called && !is_used_elsewhere(buffer) &&
        used_by_one_thread(buffer, accesses))
      move_to_thread(buffer);
  }
  for (const Buffer& buffer : program_.buffers()) {
    const Accesses accesses = accesses_of(buffer);
    if (accesses.empty()) continue;
    const size_t depth = depth_of(buffer);
    if (depth > 0 && is_used_elsewhere(buffer))
      refuse("a buffer that belongs to a level is used by several launches", buffer->name);
    if (depth > first_thread_level_) {
      check_owned(buffer, accesses, depth);
      continue;
    }
    const std::vector<IterDomain> around = domains_around(accesses);
    const bool temporary = contains(program_.intermediates, buffer);
    // A temporary's memory may be used again in each iteration, by other threads.
    const std::vector<Var> folded = temporary ? vars_around_pieces(accesses) : std::vector<Var>();
    if (!touch_different_elements(buffer, accesses, around, grid_vars(), folded) || meets_calls(accesses))
      ordered_.insert(buffer.get());
    if (temporary) check_shared(buffer, accesses);
  }
}

}  // namespace tunesmith
