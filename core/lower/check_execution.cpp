#include <fmt/format.h>

#include "lower/passes.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith {

void check_execution(const Program& program, const ExecutionModel& model) {
  walk(program.root(), [&](const Stmt& stmt) {
    const Loop* loop = stmt.as<Loop>();
    if (loop == nullptr || loop->loop_kind != LoopKind::Bound || model.find_axis(loop->thread)) return;
    const std::vector<std::string> known = model.axis_names();
    throw LowerError("bind", "the target has no such thread axis",
                     fmt::format("{} to '{}'; {}", loop->var->name, loop->thread,
                                 known.empty() ? "it binds no loops" : suggest(loop->thread, known)));
  });
  for (const Buffer& buffer : program.intermediates) {
    if (model.find_scope(buffer->scope) != nullptr) continue;
    std::vector<std::string> known;
    for (const MemoryScope& scope : model.scopes) known.push_back(scope.name);
    throw LowerError(
        "set_scope", "the target has no such scope",
        fmt::format("{} in '{}'; {}", buffer->name, buffer->scope, suggest(buffer->scope, known)));
  }
}

}  // namespace tunesmith
