#include <fmt/format.h>

#include "trace/kind_builder.h"

namespace tunesmith {

KindPtr get_block_kind() {
  return make_look_up("get_block",
                      +[](Program& program, std::string_view name) {
                        if (const Block* block = program.find_block(name)) return block->id;
                        std::vector<std::string> known;
                        for (const Block* other : program.blocks()) known.push_back(other->name);
                        throw ScheduleError("get_block", "unknown block",
                                            fmt::format("'{}'; {}", name, suggest(name, known)), program);
                      },
                      {"name"});
}

BlockRV Schedule::get_block(std::string_view name) {
  return as_handle<BlockRV>(execute(kind("get_block"), {std::string(name)}));
}

BlockRV Schedule::handle(const Block& block) { return get_block(block.name); }

}  // namespace tunesmith
