#include "primitives/shared/annotation_target.h"

namespace tunesmith {

AnnotationTarget Parameter<AnnotationTarget>::get(const Arguments& args, size_t i) {
  const Value& value = args[i];
  if (const auto* block = std::get_if<BlockId>(&value)) return *block;
  if (const auto* loop = std::get_if<LoopId>(&value)) return *loop;
  return {};
}

std::pair<Annotations*, const Stmt*> annotations_of(Program& program, const AnnotationTarget& target,
                                                    std::string_view primitive) {
  if (const auto* id = std::get_if<BlockId>(&target)) {
    Block& block = block_at(program, *id, primitive);
    return {&block.annotations, &block};
  }
  if (const auto* id = std::get_if<LoopId>(&target)) {
    Loop& loop = loop_at(program, *id, primitive);
    return {&loop.annotations, &loop};
  }
  return {&program.annotations, nullptr};
}

}  // namespace tunesmith
