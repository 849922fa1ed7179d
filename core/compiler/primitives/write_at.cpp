#include "analysis/loop_tools.h"
#include "primitives/primitives.h"
#include "trace/kind_builder.h"

namespace tunesmith {

BlockId write_at(Program& program, LoopId loop, BlockId block, int64_t write_index, std::string_view scope) {
  Program trial = program.clone();
  try {
    const BlockId copy = cache_write(trial, block, write_index, scope);
    reverse_compute_at(trial, copy, loop);
    program = std::move(trial);
    return copy;
  } catch (const ScheduleError& error) {
    throw ScheduleError("write_at", error.reason(), error.detail(), program, program.find_loop(loop));
  }
}

KindPtr write_at_kind() {
  return make_transformation("write_at", write_at, {"loop", "block", "write_index", "scope"});
}

BlockRV Schedule::write_at(LoopRV loop, BlockRV block, int write_index, std::string_view scope) {
  return as_handle<BlockRV>(
      execute(kind("write_at"), {loop, block, int64_t{write_index}, std::string(scope)}));
}

}  // namespace tunesmith
