#include <fmt/format.h>

#include "tunesmith/ir/visit.h"
#include "tunesmith/lower/passes.h"

namespace tunesmith {

void check_execution(const Program& program, const ExecutionModel& model) {
  walk(program.root(), [&](const Stmt& stmt) {
    const Loop* loop = stmt.as<Loop>();
    if (loop == nullptr || loop->loop_kind != LoopKind::Bound || model.find_axis(loop->thread)) return;
    const std::vector<std::string> known = model.axis_names();
    throw LowerError(
        "bind", "unknown thread axis",
        fmt::format("{} to '{}'; {}", loop->var->name, loop->thread,
                    known.empty() ? "the target has no thread axes" : suggest(loop->thread, known)));
  });
  for (const Block* block : program.blocks()) {
    if (!block->annotations.contains(kStorageSwizzle)) continue;
    const Buffer& buffer = collect<Store>(*block).front()->buffer;
    const MemoryScope* scope = model.find_scope(buffer->scope);
    if (scope != nullptr && scope->banks == 0)
      throw LowerError("storage_swizzle", "the memory has no banks",
                       fmt::format("'{}', of {}", buffer->scope, buffer->name));
  }
  for (const Buffer& buffer : program.intermediates) {
    if (model.find_scope(buffer->scope) != nullptr) continue;
    std::vector<std::string> known;
    for (const MemoryScope& scope : model.scopes) known.push_back(scope.name);
    throw LowerError(
        "set_scope", "unknown memory scope",
        fmt::format("{} in '{}'; {}", buffer->name, buffer->scope, suggest(buffer->scope, known)));
  }
}

}  // namespace tunesmith
