#include <fmt/format.h>

#include "analysis/accesses.h"
#include "analysis/buffer_uses.h"
#include "primitives/primitives.h"
#include "trace/kind_builder.h"

namespace tunesmith {

void set_scope(Program& program, BlockId id, int64_t write_index, std::string_view scope) {
  const Block& block = block_at(program, id, "set_scope");
  const Buffer buffer = require_access(program, block, "write", write_index, "set_scope").buffer;
  if (!is_intermediate(program, buffer)) {
    throw ScheduleError("set_scope", "the buffer is not an intermediate of the program", buffer->name,
                        program, &block);
  }
  if (buffer->scope == scope) return;
  const Buffer moved = make_buffer(buffer->name, buffer->dtype, buffer->shape, std::string(scope),
                                   buffer->constant, buffer->strides);
  program.swap_buffer(buffer, with_extents(moved, buffer->extents));
}

KindPtr set_scope_kind() {
  return make_loop_transformation("set_scope", set_scope, {"block", "write_index", "scope"});
}

void Schedule::set_scope(BlockRV block, int write_index, std::string_view scope) {
  execute(kind("set_scope"), {block, int64_t{write_index}, std::string(scope)});
}

}  // namespace tunesmith
