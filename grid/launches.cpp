#include "tunesmith/grid/launches.h"

#include "tunesmith/ir/visit.h"

namespace tunesmith {
namespace {

void collect_launches(const Stmt& stmt, const ExecutionModel& execution, std::vector<const Stmt*>& launches) {
  const auto* allocate = stmt.as<Allocate>();
  const MemoryScope* scope = allocate != nullptr ? execution.find_scope(allocate->buffer->scope) : nullptr;
  if (stmt.kind == StmtKind::Seq) {
    visit_children(stmt, [&](const Stmt& child) { collect_launches(child, execution, launches); });
  } else if (scope != nullptr && execution.depth_of(*scope) == 0) {
    collect_launches(*allocate->body(), execution, launches);
  } else {
    launches.push_back(&stmt);
  }
}

}  // namespace

std::vector<const Stmt*> launches_of(const Program& lowered, const ExecutionModel& execution) {
  std::vector<const Stmt*> launches;
  collect_launches(lowered.root(), execution, launches);
  return launches;
}

}  // namespace tunesmith
