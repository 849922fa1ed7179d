#include "trace/kind_builder.h"
#include "tunesmith/analysis/blocks.h"

namespace tunesmith {

KindPtr get_output_blocks_kind() {
  return make_look_up("get_output_blocks",
                      +[](Program& program) {
                        std::vector<Block*> blocks = program.blocks();
                        std::erase_if(blocks,
                                      [&](const Block* block) { return !writes_output(program, *block); });
                        return ids_of(blocks);
                      },
                      {});
}

std::vector<BlockRV> Schedule::get_output_blocks() {
  return as_handles<BlockRV>(execute(kind("get_output_blocks"), {}));
}

}  // namespace tunesmith
