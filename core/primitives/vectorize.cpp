#include "analysis/concurrency.h"
#include "primitives/primitives.h"
#include "trace/kind_builder.h"

namespace tunesmith {

void vectorize(Program& program, LoopId id) {
  set_loop_kind(program, loop_at(program, id, "vectorize"), LoopKind::Vectorized, "vectorize");
}

KindPtr vectorize_kind() {
  return make_loop_transformation("vectorize", {{"loop", ParamType::Loop}}, ResultType::None,
                                  [](Program& program, const Arguments& args) -> std::vector<Value> {
                                    vectorize(program, args.loop(0));
                                    return {};
                                  });
}

void Schedule::vectorize(LoopRV loop) { execute(kind("vectorize"), {loop}); }

}  // namespace tunesmith
