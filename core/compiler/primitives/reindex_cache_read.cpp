#include "primitives/primitives.h"
#include "primitives/shared/reindexed_copy.h"
#include "trace/kind_builder.h"

namespace tunesmith {

BlockId reindex_cache_read(Program& program, BlockId block, int64_t read_index, std::string_view scope,
                           std::string_view index_map) {
  return reindex_cache(program, block, "read", read_index, scope, index_map, "reindex_cache_read");
}

KindPtr reindex_cache_read_kind() {
  return make_transformation("reindex_cache_read", reindex_cache_read,
                             {"block", "read_index", "scope", "index_map"});
}

BlockRV Schedule::reindex_cache_read(BlockRV block, int read_index, std::string_view scope,
                                     std::string_view index_map) {
  return as_handle<BlockRV>(execute(
      kind("reindex_cache_read"), {block, int64_t{read_index}, std::string(scope), std::string(index_map)}));
}

}  // namespace tunesmith
