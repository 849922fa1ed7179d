#include "trace/kind_builder.h"

namespace tunesmith {

KindPtr get_loops_kind() {
  return make_look_up(
      "get_loops",
      +[](Program& program, BlockId id) { return ids_of(loops_above(block_at(program, id, "get_loops"))); },
      {"block"});
}

std::vector<LoopRV> Schedule::get_loops(BlockRV block) {
  return as_handles<LoopRV>(execute(kind("get_loops"), {block}));
}

}  // namespace tunesmith
