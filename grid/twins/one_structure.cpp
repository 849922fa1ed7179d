#include "twins/one_structure.h"

#include <algorithm>
#include <string>

#include "tunesmith/grid/launches.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/support/error.h"
#include "twins/corresponding_loops.h"
#include "twins/corresponding_programs.h"
#include "twins/corresponding_texts.h"
#include "twins/extent_substitution.h"
#include "twins/independent_launches.h"

namespace tunesmith {
namespace {

constexpr const char* kSymbol = "twin";

/// Memory that belongs to a level of the machine: shared by threads, or private.
bool memory_is_equal(const Program& full, const Program& smaller, const ExecutionModel& execution) {
  const auto theirs = collect<Allocate>(full.root());
  const auto ours = collect<Allocate>(smaller.root());
  return std::ranges::equal(theirs, ours, [&](const Allocate* a, const Allocate* b) {
    if (a->buffer->scope != b->buffer->scope || a->buffer->dtype != b->buffer->dtype) return false;
    const MemoryScope* scope = execution.find_scope(a->buffer->scope);
    const bool owned = scope != nullptr && !scope->owner.empty();
    return !owned || (a->buffer->shape == b->buffer->shape && a->buffer->strides == b->buffer->strides);
  });
}

}  // namespace

bool have_one_structure(const LoweredProgram& full, const LoweredProgram& smaller, Target& target,
                        const std::vector<size_t>& apart) {
  if (!apart.empty()) {
    const ExecutionModel& execution = target.execution();
    const std::vector<const Stmt*> theirs = launches_of(full.program, execution);
    const std::vector<const Stmt*> ours = launches_of(smaller.program, execution);
    const auto is_apart = [&](size_t position) {
      return ours[position]->parent->kind == StmtKind::Seq && is_lone(*ours[position], execution);
    };
    // Without the others there is nothing that the two have in common.
    return theirs.size() == ours.size() && apart.size() < theirs.size() &&
           std::ranges::all_of(apart, is_apart) &&
           have_one_structure(without_launches(full, apart, execution),
                              without_launches(smaller, apart, execution), target);
  }
  const ExecutionModel& execution = target.execution();
  if (!loops_correspond(full.program, smaller.program, execution) ||
      !memory_is_equal(full.program, smaller.program, execution))
    return false;
  const ExtentSubstitution extents(full.program, smaller.program);
  if (!programs_correspond(full.program, smaller.program, extents)) return false;
  const std::string wanted = target.source(full, kSymbol).value_or("");
  try {
    return texts_correspond(wanted, target.source(smaller, kSymbol).value_or(""), extents);
  } catch (const LowerError&) {
    return false;  // the target accepts only one of them
  }
}

}  // namespace tunesmith
