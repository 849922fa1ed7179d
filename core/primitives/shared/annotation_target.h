// What annotate and unannotate speak of: a block, a loop or the whole program.
#pragma once

#include <string_view>
#include <utility>
#include <variant>

#include "tunesmith/ir/program.h"
#include "tunesmith/trace/instruction.h"

namespace tunesmith {

/// Without an alternative: the whole program.
using AnnotationTarget = std::variant<std::monostate, BlockId, LoopId>;

AnnotationTarget as_annotation_target(const Value& value);

/// The target's annotations and, for marking, its statement (null for the program). Throws ScheduleError when
/// it exists no more.
std::pair<Annotations*, const Stmt*> annotations_of(Program& program, const AnnotationTarget& target,
                                                    std::string_view primitive);

}  // namespace tunesmith
