#include <algorithm>

#include "trace/kind_builder.h"
#include "tunesmith/ir/regions.h"

namespace tunesmith {

KindPtr get_output_blocks_kind() {
  return make_look_up("get_output_blocks", {}, ResultType::Blocks, [](Program& program, const Arguments&) {
    std::vector<Value> result;
    for (const Block* block : program.blocks()) {
      const std::vector<Access> writes = writes_of(*block);
      const bool writes_output = std::any_of(writes.begin(), writes.end(), [&](const Access& write) {
        return std::find(program.outputs.begin(), program.outputs.end(), write.buffer) !=
               program.outputs.end();
      });
      if (writes_output) result.emplace_back(block->id);
    }
    return result;
  });
}

std::vector<BlockRV> Schedule::get_output_blocks() {
  return as_handles<BlockRV>(execute(kind("get_output_blocks"), {}));
}

}  // namespace tunesmith
