#pragma once

#include "tunesmith/ir/visit.h"

namespace tunesmith {

/// MeasureRequest::parallel.
inline bool has_parallel_loop(const Program& program) {
  return find_first<Loop>(program.root(),
                          [](const Loop& loop) { return loop.loop_kind == LoopKind::Parallel; }) != nullptr;
}

}  // namespace tunesmith
