#include "primitives/primitives.h"
#include "primitives/shared/reindexed_copy.h"
#include "trace/kind_builder.h"

namespace tunesmith {

BlockId reindex_cache_write(Program& program, BlockId block, int64_t write_index, std::string_view scope,
                            std::string_view index_map) {
  return reindex_cache(program, block, "write", write_index, scope, index_map, "reindex_cache_write");
}

KindPtr reindex_cache_write_kind() {
  return make_transformation("reindex_cache_write", reindex_cache_write,
                             {"block", "write_index", "scope", "index_map"});
}

BlockRV Schedule::reindex_cache_write(BlockRV block, int write_index, std::string_view scope,
                                      std::string_view index_map) {
  return as_handle<BlockRV>(
      execute(kind("reindex_cache_write"),
              {block, int64_t{write_index}, std::string(scope), std::string(index_map)}));
}

}  // namespace tunesmith
