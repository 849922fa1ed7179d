// Brings a block that is a product of matrices under other axes to the form
// C[batch.., i, j] += A[batch.., i, k] * B[batch.., k, j]: in a convolution
// the spatial axes become i, output channels j, taps and input channels k.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tunesmith/stable/schedule.h"
#include "tunesmith/tiling/index_map.h"
#include "tunesmith/tiling/tensor_tile.h"

namespace tunesmith {
inline namespace stable {

struct MatrixForm {
  /// The positions of A and B among the block's reads.
  std::array<int64_t, 2> reads{0, 1};
  /// For A and B: is the reduction the last dimension, or rows and columns?
  std::array<bool, 2> reduction_last{true, false};
  /// Copies of the factors in these orders, to be inlined into later copies.
  std::vector<BlockRV> copies;
  /// The block that copies the result to its original place.
  std::optional<BlockRV> result;
};

namespace detail {

/// Positions of a factor's iterators, A (0) or B (1), among (batch.., i, j, k).
inline std::vector<size_t> factor_dims(size_t iters, size_t factor, bool reduction_last) {
  std::vector<size_t> dims(iters - 3);
  std::iota(dims.begin(), dims.end(), 0U);
  const size_t own = iters - 3 + factor;
  const size_t reduction = iters - 1;
  dims.push_back(reduction_last ? own : reduction);
  dims.push_back(reduction_last ? reduction : own);
  return dims;
}

inline std::vector<size_t> result_dims(size_t iters) {
  std::vector<size_t> dims(iters - 1);
  std::iota(dims.begin(), dims.end(), 0U);
  return dims;
}

/// The indices are exactly these iterators, each over its whole dimension.
inline bool is_plain(const std::vector<IterVar>& iters, const Access& access,
                     const std::vector<size_t>& dims) {
  if (access.indices.size() != dims.size()) return false;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (access.indices[d].iterator != dims[d] || access.buffer->shape[d] != iters[dims[d]].extent)
      return false;
  }
  return true;
}

/// Inlines elementwise producers whose only consumer is `copy` into it.
inline void inline_producers(Schedule& schedule, BlockRV copy) {
  const std::vector<Pointer<Block>> producers = producers_of(schedule.program(), schedule.block(copy));
  for (const Pointer<Block>& producer : producers) {
    const bool cheap = !any_of_exprs(*producer, [](const Expr& part) { return part.is(ExprKind::Call); });
    if (!is_elementwise(*producer) || !cheap || writes_output(schedule.program(), *producer) ||
        consumers_of(schedule.program(), *producer).size() != 1)
      continue;
    schedule.compute_inline(schedule.get_block(producer->name));
  }
}

}  // namespace detail

/// "(d0, d1, d2, d3) -> (d0, d1, d3)": from the iterators (batch.., i, j, k) of a block in this form
/// to those of a factor, A (0) or B (1), with the reduction last or not; or to those of the result.
inline std::string map_of_factor(const Schedule& schedule, BlockRV block, size_t factor,
                                 bool reduction_last) {
  const size_t iters = schedule.block(block).iters().size();
  return projection(axis_names(iters), detail::factor_dims(iters, factor, reduction_last));
}
inline std::string map_of_result(const Schedule& schedule, BlockRV block) {
  const size_t iters = schedule.block(block).iters().size();
  return projection(axis_names(iters), detail::result_dims(iters));
}

/// Copies are in `scope`. Throws ScheduleError, with the schedule half
/// changed, if the block is no product of matrices. Padding of a
/// factor that only the block reads becomes part of the factor's copy.
inline MatrixForm bring_to_matrix_form(Schedule& schedule, BlockRV block, std::string_view scope = "global") {
  MatrixProduct product;
  if (const std::string reason = match_matrix_product(schedule.block(block), &product); !reason.empty())
    refuse_block(schedule, block, "tile_for_groups", reason);
  if (!product.index_map.empty()) schedule.transform_block_layout(block, product.index_map);
  const std::vector<IterVar> iters = schedule.block(block).iters();
  MatrixForm form;
  for (const size_t factor : {0U, 1U}) {
    const bool last = product.reduction_inside[factor];
    form.reads[factor] = static_cast<int64_t>(product.factors[factor]);
    form.reduction_last[factor] = last;
    const Access access = schedule.read_accesses(block).at(product.factors[factor]);
    if (detail::is_plain(iters, access, detail::factor_dims(iters.size(), factor, last))) continue;
    form.copies.push_back(schedule.reindex_cache_read(block, form.reads[factor], scope,
                                                      map_of_factor(schedule, block, factor, last)));
    detail::inline_producers(schedule, form.copies.back());
  }
  const Access written = schedule.write_accesses(block).front();
  if (!detail::is_plain(iters, written, detail::result_dims(iters.size())))
    form.result = schedule.reindex_cache_write(block, 0, scope, map_of_result(schedule, block));
  return form;
}

}  // namespace stable
}  // namespace tunesmith
