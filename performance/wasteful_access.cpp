#include "tunesmith/performance/wasteful_access.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "lockstep_threads.h"
#include "tunesmith/affine/linear_form.h"
#include "tunesmith/ir/printer.h"

namespace tunesmith {
namespace {

/// Misaligned accesses need one more sector, which is not worth a message.
constexpr double kWorthSaying = 1.3;

/// The maximum number of executions of `stmt` by all threads together.
double max_executions(const Stmt& stmt) {
  double times = 1.0;
  for (const Stmt* at = stmt.parent; at != nullptr; at = at->parent) {
    const auto* loop = at->as<Loop>();
    if (loop == nullptr) continue;
    const Interval extent = Analyzer::at(*loop).bounds(loop->extent);
    times *= std::max(0.0, static_cast<double>(extent.max));
  }
  return times;
}

/// The distance between neighbouring threads along the fastest axis.
int64_t step_of(const Stmt& stmt, const AccessSite& access, const ExecutionModel& execution) {
  const Var fastest = LockstepThreads(stmt, execution).fastest();
  const Expr& index = access.indices[0];
  if (!fastest) return 0;
  const Expr base = index.is(ExprKind::Ramp) ? index.arg(0) : index;
  if (!base.dtype().is_index() || base.dtype().is_vector()) return 0;
  const LinearForm form = Analyzer::at(stmt).linear(base);
  if (hides(form, fastest)) return 0;
  return std::abs(form.coefficient_of(fastest)) * access.buffer->dtype.bytes();
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
    // A thread's own memory is in registers, or as fast.
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
    one.instructions = group->instructions;
    one.executions = max_executions(stmt) / static_cast<double>(machine.width);
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
  if (access.instructions > 1)
    return text + fmt::format(
                      ": its {} lanes are accessed one by one, for they are not shown to be aligned "
                      "neighbours that all are accessed",
                      access.instructions);
  if (access.step_bytes > 0)
    text += fmt::format(": neighbouring threads lie {} bytes apart{}", access.step_bytes,
                        access.banked ? "; pad its rows, or swizzle them" : "");
  return text;
}

}  // namespace tunesmith
