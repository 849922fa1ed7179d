// Two ways to keep a chain's rows in cache: one row at a time, and blocks of rows between products.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tunesmith/stable/schedule.h>

#include "chain.h"
#include "product_tile.h"
#include "row_stages.h"

namespace tunesmith {

struct RowBlockChoices {
  RowChoices row;
  std::vector<int64_t> steps;     // numbers of unrolled reduction steps of a product
  std::vector<int64_t> prefetch;  // iterations ahead
  int64_t cores = 1;
  int64_t first_cache_bytes = 0;
  int64_t block_bytes = 0;          // at most, of a block of rows between products
  int64_t private_cache_bytes = 0;  // larger outputs may be stored past the caches
};

/// Computes a row's data under one parallel loop over rows. With `prefetches`, a loop
/// that only computes prefetches data of later rows. Returns the blocks to claim.
std::vector<BlockRV> compute_at_rows(Schedule& schedule, const Chain& chain, const RowBlockChoices& choices,
                                     bool prefetches);

/// Computes a block of rows under one parallel loop: products in tiles, and each stage for
/// all rows before the next, so that the tails of reductions overlap. Returns nothing,
/// without changes, if the chain has no product and no block of several rows is possible.
std::vector<BlockRV> compute_at_row_blocks(Schedule& schedule, const Chain& chain,
                                           const RowBlockChoices& choices, const TileShape& shape);

}  // namespace tunesmith
