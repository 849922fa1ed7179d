#include <fmt/format.h>

#include "trace/kind_builder.h"

namespace tunesmith {

KindPtr get_block_kind() {
  return make_look_up("get_block", {{"name", ParamType::String}}, ResultType::Block,
                      [](Program& program, const Arguments& args) -> std::vector<Value> {
                        const Block* block = program.find_block(args.string(0));
                        if (block == nullptr) {
                          std::vector<std::string> known;
                          for (const Block* other : program.blocks()) known.push_back(other->name);
                          throw ScheduleError(
                              "get_block", "there is no block of this name",
                              fmt::format("'{}'; {}", args.string(0), suggest(args.string(0), known)),
                              program);
                        }
                        return {block->id};
                      });
}

BlockRV Schedule::get_block(std::string_view name) {
  return as_handle<BlockRV>(execute(kind("get_block"), {std::string(name)}));
}

BlockRV Schedule::handle(const Block& block) { return get_block(block.name); }

}  // namespace tunesmith
