#include "trace/kind_builder.h"
#include "tunesmith/ir/regions.h"

namespace tunesmith {

KindPtr get_consumers_kind() {
  return make_look_up("get_consumers",
                      +[](Program& program, BlockId id) {
                        return ids_of(consumers_of(program, block_at(program, id, "get_consumers")));
                      },
                      {"block"});
}

std::vector<BlockRV> Schedule::get_consumers(BlockRV block) {
  return as_handles<BlockRV>(execute(kind("get_consumers"), {block}));
}

}  // namespace tunesmith
