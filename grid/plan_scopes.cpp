#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "passes.h"
#include "place_in_scope.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith {
namespace {

int64_t round_up(int64_t bytes, int64_t alignment) { return (bytes + alignment - 1) / alignment * alignment; }

struct ScopePlanner {
  LoweredProgram& lowered;
  const LowerOptions& options;
  int64_t stores = 0;

  /// `used`: bytes of each scope that earlier and enclosing allocations of the launch use.
  void run(const Stmt& stmt, int64_t copies, std::map<std::string, int64_t>& used) {
    if (const Loop* loop = stmt.as<Loop>()) {
      const bool unrolled = loop->loop_kind == LoopKind::Unrolled;
      return run(*loop->body(), unrolled ? copies * loop->const_extent() : copies, used);
    }
    if (stmt.kind == StmtKind::Store) {
      stores += copies;
      if (stores > options.max_expanded_stores) {
        throw LowerError("plan_scopes", "the unrolled program is too long",
                         fmt::format("more than {} stores", options.max_expanded_stores));
      }
      return;
    }
    if (const Allocate* allocate = stmt.as<Allocate>()) place(*allocate, used);
    visit_children(stmt, [&](const Stmt& child) { run(child, copies, used); });
  }

  void place(const Allocate& allocate, std::map<std::string, int64_t>& used) {
    const Buffer& buffer = allocate.buffer;
    const MemoryScope& scope = *options.execution.find_scope(buffer->scope);
    if (options.execution.depth_of(scope) == 0) {
      lowered.workspace.push_back({buffer, lowered.workspace_bytes});
      lowered.workspace_bytes += aligned_bytes(buffer);
      return;
    }
    int64_t& bytes = used[scope.name];
    bytes = allocate.offset ? std::max(bytes, *allocate.offset + buffer->bytes())
                            : bytes + round_up(buffer->bytes(), scope.alignment);
    if (scope.capacity > 0 && bytes > scope.capacity) {
      throw LowerError("plan_scopes", "a scope has less memory than the program needs",
                       fmt::format("{} brings '{}' to {} bytes, of at most {} in each {}", buffer->name,
                                   scope.name, bytes, scope.capacity, scope.owner));
    }
  }
};

/// Plans each launch: the statements of the root, inside the workspace's allocations.
void plan_launches(Stmt& stmt, ScopePlanner& planner) {
  const ExecutionModel& execution = planner.options.execution;
  std::map<std::string, int64_t> used;
  const Allocate* allocate = stmt.as<Allocate>();
  if (stmt.kind == StmtKind::Seq) {
    visit_children(stmt, [&](Stmt& child) { plan_launches(child, planner); });
  } else if (allocate != nullptr && execution.depth_of(*execution.find_scope(allocate->buffer->scope)) == 0) {
    planner.place(*allocate, used);
    plan_launches(*allocate->body(), planner);
  } else {
    place_in_scopes(stmt, execution);
    planner.run(stmt, 1, used);
  }
}

}  // namespace

void plan_scopes(LoweredProgram& lowered, const LowerOptions& options) {
  ScopePlanner planner{lowered, options};
  plan_launches(lowered.program.root(), planner);
}

}  // namespace tunesmith
