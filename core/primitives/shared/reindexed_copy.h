// A copy of what a block accesses, in an order that follows the block's iterators: what reindex,
// reindex_cache_read and reindex_cache_write share.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/loop_tools.h"
#include "tunesmith/ir/program.h"

namespace tunesmith {

/// The one way in which a block touches a buffer, and the iterators that it depends on.
struct OneAccess {
  std::vector<Expr> indices;
  std::vector<IterVar> iters;
};

/// Fills in `access`; a refusal when there is more than one way, or it may lie outside of the buffer.
std::optional<Refusal> access_refusal(const Block& block, const Buffer& buffer, OneAccess* access);

/// Nothing when a copy to `buffer` may stand directly after the loop nest of `block`, which then writes
/// something else.
std::optional<Refusal> copy_after_refusal(const Program& program, Block& block, const Buffer& buffer,
                                          const OneAccess& access);

/// `block` accesses `cache` at `indices` instead of `buffer` at `access.indices`; a block over
/// `access.iters` copies between the two, before the nest of `block` or, when it `writes`, after it.
BlockId make_reindexed_copy(Program& program, Block& block, const Buffer& buffer, const OneAccess& access,
                            const Buffer& cache, std::span<const Expr> indices, bool writes);

/// reindex_cache_read and reindex_cache_write: the element that the block accesses at iterators v lies at
/// index_map(v) of a new buffer in `scope`.
BlockId reindex_cache(Program& program, BlockId block, std::string_view access, int64_t index,
                      std::string_view scope, std::string_view index_map, std::string_view primitive);

}  // namespace tunesmith
