#include "primitives/primitives.h"
#include "trace/kind_builder.h"

namespace tunesmith {

LoopId add_unit_loop(Program& program, BlockId id) {
  Block& block = block_at(program, id, "add_unit_loop");
  std::unique_ptr<Loop> loop = program.make_loop(Var("u"), 1, nullptr);
  Loop& placed = *loop;
  StmtPtr inner = replace(block, std::move(loop));
  placed.set_body(std::move(inner));
  return placed.id;
}

KindPtr add_unit_loop_kind() { return make_loop_transformation("add_unit_loop", add_unit_loop, {"block"}); }

LoopRV Schedule::add_unit_loop(BlockRV block) {
  return as_handle<LoopRV>(execute(kind("add_unit_loop"), {block}));
}

}  // namespace tunesmith
