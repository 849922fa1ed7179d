// Copies of the operands and results of a product of matrices in memory nearer
// to the computation. The block is in the form that matrix_form.h makes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tunesmith/tiling/matrix_form.h"
#include "tunesmith/tiling/padding.h"

namespace tunesmith {
inline namespace stable {

/// The number of columns that one call of a product's intrinsic computes; panels have two dimensions.
inline int64_t columns_of(const TensorIntrinsic& product) {
  const std::vector<int64_t>& shape = product.operands.front().buffer->shape;
  return std::accumulate(shape.begin() + 1, shape.end(), int64_t{1}, std::multiplies());
}

struct ProductPadding {
  /// Copies of the factors in larger buffers, to be inlined into later copies; none if all fits.
  std::vector<BlockRV> copies;
  /// Does another block copy the result back?
  bool of_result = false;
};

/// Enlarges the product to multiples of one call of its
/// intrinsic. Throws ScheduleError as pad_einsum does.
inline ProductPadding pad_product(Schedule& schedule, BlockRV block, const TensorIntrinsic& product) {
  const std::string result = schedule.writes_of(block).front().buffer->name;
  const std::vector<int64_t> reduction = product.extents(IterKind::Reduction);
  const int64_t steps = std::accumulate(reduction.begin(), reduction.end(), int64_t{1}, std::multiplies());
  const int64_t rows = product.operands.front().buffer->shape.front();
  ProductPadding padding;
  padding.copies = pad_for_tile(schedule, block, {rows, columns_of(product)}, {steps});
  padding.of_result = schedule.writes_of(block).front().buffer->name != result;
  return padding;
}

/// Is the reduction the last dimension of a factor?
struct FactorOrder {
  bool before;     // in the memory that it is copied from
  bool copied;     // in the copy
  bool innermost;  // if the two differ: is the reduction the copy's innermost loop?
};

/// Copies A (0) or B (1) to `scope`.
inline BlockRV copy_factor(Schedule& schedule, BlockRV block, const MatrixForm& form, size_t factor,
                           std::string_view scope, const FactorOrder& reduction_last) {
  const int64_t read = form.reads[factor];
  if (reduction_last.before == reduction_last.copied) return schedule.cache_read(block, read, scope);
  const BlockRV copy = schedule.reindex_cache_read(
      block, read, scope, map_of_factor(schedule, block, factor, reduction_last.copied));
  std::vector<int64_t> order(schedule.block(copy).iters().size());
  std::iota(order.begin(), order.end(), 0);
  if (!reduction_last.innermost) {
    std::swap(order.end()[-1], order.end()[-2]);
    schedule.reorder_block_iter_var(copy, order);
  }
  return copy;
}

/// The only reader of this block's result, if it is elementwise; else nothing.
inline std::optional<BlockRV> take_element_reader(Schedule& schedule, BlockRV block) {
  const Pointer<Block> reader = element_reader(schedule.program(), schedule.block(block));
  if (!reader) return std::nullopt;
  return schedule.get_block(reader->name);
}

/// The block that writes the product's result, whose buffer is now in `scope`.
/// Copies after the product and elementwise consumers are merged with it.
inline BlockRV result_writer(Schedule& schedule, BlockRV block, const MatrixForm& form, bool padded,
                             std::string_view scope) {
  const std::optional<BlockRV> reader = padded        ? std::optional(schedule.get_consumers(block).at(0))
                                        : form.result ? form.result
                                                      : take_element_reader(schedule, block);
  if (!reader) return schedule.cache_write(block, 0, scope);
  schedule.set_scope(block, 0, scope);
  while (const std::optional<BlockRV> next = take_element_reader(schedule, *reader))
    schedule.reverse_compute_inline(*next);
  return *reader;
}

/// They are not needed after the factors were copied.
inline void inline_blocks(Schedule& schedule, const std::vector<BlockRV>& blocks) {
  for (const BlockRV& block : blocks) schedule.compute_inline(block);
}

}  // namespace stable
}  // namespace tunesmith
