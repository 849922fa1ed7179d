#include "tunesmith/analysis/wasteful_access.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tunesmith/affine/simplify.h"
#include "tunesmith/ir/printer.h"

namespace tunesmith {
namespace {

/// What begins in the middle of a sector takes one more: that much is not said.
constexpr double kWorthSaying = 1.3;

/// How often all threads together run `stmt`, at most.
double most_executions(const Stmt& stmt) {
  double times = 1.0;
  for (const Stmt* at = stmt.parent; at != nullptr; at = at->parent) {
    const auto* loop = at->as<Loop>();
    if (loop == nullptr) continue;
    const Interval extent = Analyzer::at(*loop).bounds(loop->extent);
    times *= std::max(0.0, static_cast<double>(extent.max));
  }
  return times;
}

/// From a thread to its neighbour along the axis that varies fastest.
int64_t step_of(const Stmt& stmt, const AccessSite& access, const ExecutionModel& execution) {
  const Loop* fastest = nullptr;
  std::pair<int64_t, size_t> order;
  for (const Stmt* at = stmt.parent; at != nullptr; at = at->parent) {
    const auto* loop = at->as<Loop>();
    if (loop == nullptr || loop->loop_kind != LoopKind::Bound) continue;
    const std::optional<ExecutionModel::Axis> axis = execution.find_axis(loop->thread);
    if (!axis || axis->level < execution.first_synchronising()) continue;
    const std::pair key{-static_cast<int64_t>(axis->level), axis->axis};
    if (fastest == nullptr || key < order) std::tie(fastest, order) = std::tie(loop, key);
  }
  const Expr& index = access.indices[0];
  if (fastest == nullptr) return 0;
  const Expr base = index.is(ExprKind::Ramp) ? index.arg(0) : index;
  if (!base.dtype().is_index() || base.dtype().is_vector()) return 0;
  const LinearForm form = Analyzer::at(stmt).linear(base);
  for (const LinearForm::Term& term : form.terms) {
    if (term.atom.get() != fastest->var.get() && uses_var(term.atom, fastest->var)) return 0;
  }
  return std::abs(form.coefficient_of(fastest->var)) * access.buffer->dtype.bytes();
}

std::string access_text(const AccessSite& access) {
  std::string indices;
  for (const Expr& index : access.indices) indices += (indices.empty() ? "" : ", ") + to_string(index);
  return fmt::format("{}[{}]", access.buffer->name, indices);
}

}  // namespace

std::vector<WastefulAccess> wasteful_accesses(const Program& lowered, const LockstepMachine& machine) {
  std::vector<WastefulAccess> found;
  walk_accesses(lowered.root(), [&](const Stmt& stmt, const AccessSite& access) {
    const MemoryScope* scope = machine.execution->find_scope(access.buffer->scope);
    // What each thread has of its own lies in registers, or as if it did.
    const bool shared =
        scope != nullptr && machine.execution->depth_of(*scope) <= machine.execution->first_synchronising();
    if (!shared || access.indices.size() != 1) return;
    const std::optional<LockstepAccess> group = lockstep_access(stmt, access, machine);
    if (!group || group->threads == 0.0) return;
    WastefulAccess one;
    one.banked = scope->banks > 0;
    const double unit = one.banked ? static_cast<double>(scope->banks * scope->bank_bytes)
                                   : static_cast<double>(machine.sector_bytes);
    one.needed = std::max(1.0, std::ceil(group->bytes / unit));
    one.taken = one.banked ? group->wavefronts : group->sectors;
    if (one.taken < kWorthSaying * one.needed) return;
    one.stmt = &stmt;
    one.access = access_text(access);
    one.writes = access.load == nullptr;
    one.executions = most_executions(stmt) / static_cast<double>(machine.width);
    one.step_bytes = step_of(stmt, access, *machine.execution);
    found.push_back(std::move(one));
  });
  std::ranges::stable_sort(found, std::greater(), [](const WastefulAccess& one) {
    return (one.taken - one.needed) * one.executions;
  });
  return found;
}

std::string to_string(const WastefulAccess& access) {
  std::string text =
      fmt::format("the {} of {} takes {:.3g} {} where {:.3g} would do", access.writes ? "store" : "load",
                  access.access, access.taken, access.banked ? "wavefronts" : "sectors", access.needed);
  if (access.step_bytes > 0)
    text += fmt::format(": neighbouring threads lie {} bytes apart{}", access.step_bytes,
                        access.banked ? "; pad its rows, or swizzle them" : "");
  return text;
}

}  // namespace tunesmith
