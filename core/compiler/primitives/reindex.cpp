#include "primitives/primitives.h"
#include "primitives/shared/reindexed_copy.h"
#include "trace/kind_builder.h"

namespace tunesmith {

BlockId reindex(Program& program, BlockId id, std::string_view access_sort, int64_t index) {
  Block& block = block_at(program, id, "reindex");
  const CopiedAccess access = require_copied_access(program, block, access_sort, index, "reindex");
  std::vector<int64_t> shape;
  std::vector<Expr> indices;
  for (const IterVar& iter : access.iters) {
    shape.push_back(iter.extent);
    indices.emplace_back(iter.var);
  }
  const Buffer fresh = make_buffer(program.fresh_buffer_name(access.of.buffer->name + "_reindex"),
                                   access.of.buffer->dtype, shape);
  return make_reindexed_copy(program, block, access, fresh, indices);
}

KindPtr reindex_kind() { return make_transformation("reindex", reindex, {"block", "access", "index"}); }

BlockRV Schedule::reindex(BlockRV block, std::string_view access, int index) {
  return as_handle<BlockRV>(execute(kind("reindex"), {block, std::string(access), int64_t{index}}));
}

}  // namespace tunesmith
