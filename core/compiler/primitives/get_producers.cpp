#include "trace/kind_builder.h"
#include "tunesmith/ir/regions.h"

namespace tunesmith {

KindPtr get_producers_kind() {
  return make_look_up("get_producers",
                      +[](Program& program, BlockId id) {
                        return ids_of(producers_of(program, block_at(program, id, "get_producers")));
                      },
                      {"block"});
}

std::vector<BlockRV> Schedule::get_producers(BlockRV block) {
  return as_handles<BlockRV>(execute(kind("get_producers"), {block}));
}

}  // namespace tunesmith
