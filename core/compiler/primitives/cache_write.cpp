#include <fmt/format.h>

#include "analysis/accesses.h"
#include "analysis/buffer_uses.h"
#include "primitives/primitives.h"
#include "primitives/shared/copy_nest.h"
#include "trace/kind_builder.h"
#include "tunesmith/ir/tree_surgery.h"

namespace tunesmith {
namespace {

std::optional<Refusal> write_refusal(const Program& program, Block& block, Stage* stage) {
  if (auto refusal = stage_refusal(program, block, stage)) return refusal;
  if (!writes_everything(block, stage->buffer))
    return Refusal{"the block does not write every element of its buffer", stage->buffer->name, &block};
  return reader_in_nest_refusal(*stage);
}

}  // namespace

BlockId cache_write(Program& program, BlockId id, int64_t write_index, std::string_view scope) {
  Block& block = block_at(program, id, "cache_write");
  Stage stage;
  throw_refusal("cache_write", program, write_refusal(program, block, &stage));
  const Buffer buffer = require_access(program, block, "write", write_index, "cache_write").buffer;
  const Buffer cache = add_cache_buffer(program, buffer, scope);
  replace_buffer_in(block, buffer, cache);
  BlockNest copy = make_copy_nest(program, cache->name, cache, buffer);
  insert_after(outermost_in_scope(block), std::move(copy.nest));
  return copy.block->id;
}

KindPtr cache_write_kind() {
  return make_transformation("cache_write", cache_write, {"block", "write_index", "scope"});
}

BlockRV Schedule::cache_write(BlockRV block, int write_index, std::string_view scope) {
  return as_handle<BlockRV>(execute(kind("cache_write"), {block, int64_t{write_index}, std::string(scope)}));
}

}  // namespace tunesmith
