#include "analysis/concurrency.h"
#include "primitives/primitives.h"
#include "trace/kind_builder.h"

namespace tunesmith {

void unroll(Program& program, LoopId id) {
  set_loop_kind(program, loop_at(program, id, "unroll"), LoopKind::Unrolled, "unroll");
}

KindPtr unroll_kind() { return make_loop_transformation("unroll", unroll, {"loop"}); }

void Schedule::unroll(LoopRV loop) { execute(kind("unroll"), {loop}); }

}  // namespace tunesmith
