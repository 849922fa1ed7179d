#include <fmt/format.h>

#include "analysis/accesses.h"
#include "analysis/loop_tools.h"
#include "primitives/primitives.h"
#include "primitives/shared/copy_nest.h"
#include "trace/kind_builder.h"
#include "tunesmith/ir/tree_surgery.h"

namespace tunesmith {

BlockId cache_read(Program& program, BlockId id, int64_t read_index, std::string_view scope) {
  Block& block = block_at(program, id, "cache_read");
  const Access access = require_access(program, block, "read", read_index, "cache_read");
  throw_refusal("cache_read", program, whole_copy_refusal(program, block, access.buffer));
  const Buffer cache = add_cache_buffer(program, access.buffer, scope);
  redirect_reads(block, access, cache, access.indices);
  BlockNest copy = make_copy_nest(program, cache->name, access.buffer, cache);
  insert_before(outermost_in_scope(block), std::move(copy.nest));
  return copy.block->id;
}

KindPtr cache_read_kind() {
  return make_transformation("cache_read", cache_read, {"block", "read_index", "scope"});
}

BlockRV Schedule::cache_read(BlockRV block, int read_index, std::string_view scope) {
  return as_handle<BlockRV>(execute(kind("cache_read"), {block, int64_t{read_index}, std::string(scope)}));
}

}  // namespace tunesmith
