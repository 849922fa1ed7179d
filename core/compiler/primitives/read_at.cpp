#include "analysis/loop_tools.h"
#include "primitives/primitives.h"
#include "trace/kind_builder.h"

namespace tunesmith {

BlockId read_at(Program& program, LoopId loop, BlockId block, int64_t read_index, std::string_view scope) {
  Program trial = program.clone();
  try {
    const BlockId copy = cache_read(trial, block, read_index, scope);
    compute_at(trial, copy, loop);
    program = std::move(trial);
    return copy;
  } catch (const ScheduleError& error) {
    throw ScheduleError("read_at", error.reason(), error.detail(), program, program.find_loop(loop));
  }
}

KindPtr read_at_kind() {
  return make_transformation("read_at", read_at, {"loop", "block", "read_index", "scope"});
}

BlockRV Schedule::read_at(LoopRV loop, BlockRV block, int read_index, std::string_view scope) {
  return as_handle<BlockRV>(execute(kind("read_at"), {loop, block, int64_t{read_index}, std::string(scope)}));
}

}  // namespace tunesmith
