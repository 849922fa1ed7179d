// The primitives as free functions on a Program: each changes it to an equivalent one, or throws
// ScheduleError and leaves it alone. Contracts stand at the methods of Schedule
// (tunesmith/schedule/schedule.h).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "schedule/annotation_target.h"
#include "tunesmith/ir/program.h"

namespace tunesmith {

// ---- Loops ----

std::vector<LoopId> split(Program& program, LoopId loop, std::span<const std::optional<int64_t>> factors);
LoopId fuse(Program& program, std::span<const LoopId> loops);
void reorder(Program& program, std::span<const LoopId> loops);
LoopId add_unit_loop(Program& program, BlockId block);
void parallel(Program& program, LoopId loop);
void vectorize(Program& program, LoopId loop);
void unroll(Program& program, LoopId loop);
void bind(Program& program, LoopId loop, std::string_view thread_axis);

// ---- Annotations ----

void annotate(Program& program, const AnnotationTarget& target, std::string_view key, AnnotationValue value);
void unannotate(Program& program, const AnnotationTarget& target, std::string_view key);

}  // namespace tunesmith
