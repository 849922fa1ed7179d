// Copies an accessed buffer in the order of the block's iterators, for reindex, reindex_cache_read and
// reindex_cache_write.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/accesses.h"
#include "analysis/loop_tools.h"
#include "tunesmith/ir/program.h"

namespace tunesmith {

/// An access of a block that is redirected to a copy.
struct CopiedAccess {
  Access of;
  bool writes = false;
  std::vector<IterVar> iters;  // the block's iterators on which its indices depend
};

/// The `index`-th read or write of the block. Throws ScheduleError if a copy may not
/// be placed before the block's loop nest (for a write: after it), or the access may
/// be out of bounds. A written buffer may be accessed only by this write.
CopiedAccess require_copied_access(const Program& program, Block& block, std::string_view sort, int64_t index,
                                   std::string_view primitive);

/// Redirects the access of `block` to `cache` at `indices`. A new block over `access.iters` copies between
/// both buffers, before the nest of `block`, or after it if the access is a write.
BlockId make_reindexed_copy(Program& program, Block& block, const CopiedAccess& access, const Buffer& cache,
                            std::span<const Expr> indices);

/// Implements reindex_cache_read and reindex_cache_write: the element that the
/// block accesses at iterators v lies at index_map(v) of a new buffer in `scope`.
BlockId reindex_cache(Program& program, BlockId block, std::string_view access, int64_t index,
                      std::string_view scope, std::string_view index_map, std::string_view primitive);

}  // namespace tunesmith
