#include "analysis/loop_tools.h"
#include "trace/kind_builder.h"

namespace tunesmith {

KindPtr get_child_blocks_kind() {
  return make_look_up("get_child_blocks", {{"loop", ParamType::Loop}}, ResultType::Blocks,
                      [](Program& program, const Arguments& args) {
                        const Loop& loop = loop_at(program, args.loop(0), "get_child_blocks");
                        std::vector<Value> result;
                        for_each_outer_block(loop,
                                             [&](const Block& block) { result.emplace_back(block.id); });
                        return result;
                      });
}

std::vector<BlockRV> Schedule::get_child_blocks(LoopRV loop) {
  return as_handles<BlockRV>(execute(kind("get_child_blocks"), {loop}));
}

}  // namespace tunesmith
