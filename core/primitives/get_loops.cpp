#include "trace/kind_builder.h"

namespace tunesmith {

KindPtr get_loops_kind() {
  return make_look_up("get_loops", {{"block", ParamType::Block}}, ResultType::Loops,
                      [](Program& program, const Arguments& args) {
                        std::vector<Value> result;
                        const Block& block = block_at(program, args.block(0), "get_loops");
                        for (const Loop* loop : loops_above(block)) result.emplace_back(loop->id);
                        return result;
                      });
}

std::vector<LoopRV> Schedule::get_loops(BlockRV block) {
  return as_handles<LoopRV>(execute(kind("get_loops"), {block}));
}

}  // namespace tunesmith
