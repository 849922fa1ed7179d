// The target of annotate and unannotate: a block, a loop or the whole program.
#pragma once

#include <string_view>
#include <utility>
#include <variant>

#include "trace/kind_builder.h"
#include "tunesmith/ir/program.h"

namespace tunesmith {

/// std::monostate: the whole program.
using AnnotationTarget = std::variant<std::monostate, BlockId, LoopId>;

template <>
struct Parameter<AnnotationTarget> {
  static constexpr ParamType type = ParamType::BlockOrRootOrLoop;
  static AnnotationTarget get(const Arguments& args, size_t i);
};

/// The target's annotations, and its statement for error marks (null for the program). Throws ScheduleError
/// if the target no longer exists.
std::pair<Annotations*, const Stmt*> annotations_of(Program& program, const AnnotationTarget& target,
                                                    std::string_view primitive);

}  // namespace tunesmith
