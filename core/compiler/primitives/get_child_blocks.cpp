#include "analysis/loop_tools.h"
#include "trace/kind_builder.h"

namespace tunesmith {

KindPtr get_child_blocks_kind() {
  return make_look_up("get_child_blocks",
                      +[](Program& program, LoopId id) {
                        std::vector<BlockId> result;
                        for_each_outer_block(loop_at(program, id, "get_child_blocks"),
                                             [&](const Block& block) { result.push_back(block.id); });
                        return result;
                      },
                      {"loop"});
}

std::vector<BlockRV> Schedule::get_child_blocks(LoopRV loop) {
  return as_handles<BlockRV>(execute(kind("get_child_blocks"), {loop}));
}

}  // namespace tunesmith
