// Brings a block that is a product of matrices under other axes to the form C[batch.., i, j] += A[batch.., i,
// k] * B[batch.., k, j]: a convolution, say, whose spatial axes become i, output channels j, and taps and
// input channels k.
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
  /// The block's reads that are A and B.
  std::array<int64_t, 2> reads{0, 1};
  /// Do the block's reads of A and B have the reduction as their last dimension, or rows and columns?
  std::array<bool, 2> reduction_last{true, false};
  /// Copies of the factors in these orders, to be inlined into copies of them.
  std::vector<BlockRV> copies;
  /// What copies the result to where it was.
  std::optional<BlockRV> result;
};

namespace detail {

/// Positions of the iterators of a factor, A (0) or B (1), among (batch.., i, j, k).
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

/// The indices are just these iterators, each over the whole of its dimension.
inline bool is_plain(const std::vector<IterVar>& iters, const Access& access,
                     const std::vector<size_t>& dims) {
  if (access.indices.size() != dims.size()) return false;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (access.indices[d].iterator != dims[d] || access.buffer->shape[d] != iters[dims[d]].extent)
      return false;
  }
  return true;
}

/// What makes the buffer that `copy` reads, for it alone and element by element, goes into it.
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

/// "(d0, d1, d2, d3) -> (d0, d1, d3)": of the iterators (batch.., i, j, k) of a block in the form, those of a
/// factor, A (0) or B (1), with the reduction last or not; or those of the result.
inline std::string map_of_factor(const Schedule& schedule, BlockRV block, size_t factor,
                                 bool reduction_last) {
  const size_t iters = schedule.block(block).iters().size();
  return projection(axis_names(iters), detail::factor_dims(iters, factor, reduction_last));
}
inline std::string map_of_result(const Schedule& schedule, BlockRV block) {
  const size_t iters = schedule.block(block).iters().size();
  return projection(axis_names(iters), detail::result_dims(iters));
}

/// Copies are made in `scope`. Throws ScheduleError, with the schedule half way, where the block is no
/// product of matrices. What pads a factor, and is read by the block alone, becomes part of the factor's
/// copy.
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
