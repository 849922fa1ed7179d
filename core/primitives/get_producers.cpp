#include "trace/kind_builder.h"
#include "tunesmith/ir/regions.h"

namespace tunesmith {

KindPtr get_producers_kind() {
  return make_look_up("get_producers", {{"block", ParamType::Block}}, ResultType::Blocks,
                      [](Program& program, const Arguments& args) {
                        const Block& block = block_at(program, args.block(0), "get_producers");
                        std::vector<Value> result;
                        for (const Block* other : producers_of(program, block))
                          result.emplace_back(other->id);
                        return result;
                      });
}

std::vector<BlockRV> Schedule::get_producers(BlockRV block) {
  return as_handles<BlockRV>(execute(kind("get_producers"), {block}));
}

}  // namespace tunesmith
