#include "analysis/concurrency.h"
#include "primitives/primitives.h"
#include "trace/kind_builder.h"

namespace tunesmith {

void unroll(Program& program, LoopId id) {
  set_loop_kind(program, loop_at(program, id, "unroll"), LoopKind::Unrolled, "unroll");
}

KindPtr unroll_kind() {
  return make_loop_transformation("unroll", {{"loop", ParamType::Loop}}, ResultType::None,
                                  [](Program& program, const Arguments& args) -> std::vector<Value> {
                                    unroll(program, args.loop(0));
                                    return {};
                                  });
}

void Schedule::unroll(LoopRV loop) { execute(kind("unroll"), {loop}); }

}  // namespace tunesmith
