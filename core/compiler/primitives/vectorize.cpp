#include "analysis/concurrency.h"
#include "primitives/primitives.h"
#include "trace/kind_builder.h"

namespace tunesmith {

void vectorize(Program& program, LoopId id) {
  set_loop_kind(program, loop_at(program, id, "vectorize"), LoopKind::Vectorized, "vectorize");
}

KindPtr vectorize_kind() { return make_loop_transformation("vectorize", vectorize, {"loop"}); }

void Schedule::vectorize(LoopRV loop) { execute(kind("vectorize"), {loop}); }

}  // namespace tunesmith
