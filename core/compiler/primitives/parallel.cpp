#include "analysis/concurrency.h"
#include "primitives/primitives.h"
#include "trace/kind_builder.h"

namespace tunesmith {

void parallel(Program& program, LoopId id) {
  set_loop_kind(program, loop_at(program, id, "parallel"), LoopKind::Parallel, "parallel");
}

KindPtr parallel_kind() { return make_loop_transformation("parallel", parallel, {"loop"}); }

void Schedule::parallel(LoopRV loop) { execute(kind("parallel"), {loop}); }

}  // namespace tunesmith
