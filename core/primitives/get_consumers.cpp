#include "trace/kind_builder.h"
#include "tunesmith/ir/regions.h"

namespace tunesmith {

KindPtr get_consumers_kind() {
  return make_look_up("get_consumers", {{"block", ParamType::Block}}, ResultType::Blocks,
                      [](Program& program, const Arguments& args) {
                        const Block& block = block_at(program, args.block(0), "get_consumers");
                        std::vector<Value> result;
                        for (const Block* other : consumers_of(program, block))
                          result.emplace_back(other->id);
                        return result;
                      });
}

std::vector<BlockRV> Schedule::get_consumers(BlockRV block) {
  return as_handles<BlockRV>(execute(kind("get_consumers"), {block}));
}

}  // namespace tunesmith
