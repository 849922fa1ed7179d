#include "matrix_form.h"

#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tunesmith/analysis/accesses.h"
#include "tunesmith/analysis/blocks.h"
#include "tunesmith/analysis/schedule_error.h"
#include "tunesmith/intrinsics/matrix_product.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith {
namespace {

/// Positions of the iterators of a factor among (batch.., i, j, k).
std::vector<size_t> factor_dims(const Block& block, size_t factor, bool reduction_last) {
  std::vector<size_t> dims(block.iters.size() - 3);
  std::iota(dims.begin(), dims.end(), 0U);
  const size_t own = block.iters.size() - 3 + factor;
  const size_t reduction = block.iters.size() - 1;
  dims.push_back(reduction_last ? own : reduction);
  dims.push_back(reduction_last ? reduction : own);
  return dims;
}

std::vector<size_t> result_dims(const Block& block) {
  std::vector<size_t> dims(block.iters.size() - 1);
  std::iota(dims.begin(), dims.end(), 0U);
  return dims;
}

std::string projection(const Block& block, const std::vector<size_t>& dims) {
  std::vector<std::string> all;
  std::vector<std::string> kept;
  for (size_t i = 0; i < block.iters.size(); ++i) all.push_back(fmt::format("d{}", i));
  for (const size_t d : dims) kept.push_back(all[d]);
  return fmt::format("({}) -> ({})", fmt::join(all, ", "), fmt::join(kept, ", "));
}

/// The indices are just these iterators, each over the whole of its dimension.
bool is_plain(const Block& block, const Access& access, const std::vector<size_t>& dims) {
  if (access.indices.size() != dims.size()) return false;
  for (size_t d = 0; d < dims.size(); ++d) {
    const IterVar& iter = block.iters[dims[d]];
    if (!access.indices[d].same_as(iter.var) || access.buffer->shape[d] != iter.extent) return false;
  }
  return true;
}

/// What makes the buffer that `copy` reads, for it alone and element by element, goes into it.
void inline_producers(Schedule& schedule, BlockRV copy) {
  const std::vector<Block*> producers = producers_of(schedule.program(), schedule.block(copy));
  for (const Block* producer : producers) {
    const bool cheap = !any_of_exprs(*producer, [](const Expr& part) { return part.is(ExprKind::Call); });
    if (!is_elementwise(*producer) || !cheap || writes_output(schedule.program(), *producer) ||
        consumers_of(schedule.program(), *producer).size() != 1)
      continue;
    schedule.compute_inline(schedule.handle(*producer));
  }
}

}  // namespace

MatrixForm bring_to_matrix_form(Schedule& schedule, BlockRV block) {
  MatrixProduct product;
  if (const std::string_view reason = match_matrix_product(schedule.block(block), &product); !reason.empty())
    throw ScheduleError("tile_for_groups", reason, schedule.block(block).name, schedule.program(),
                        &schedule.block(block));
  if (!product.index_map.empty()) schedule.transform_block_layout(block, product.index_map);
  MatrixForm form;
  for (const size_t factor : {0U, 1U}) {
    const auto read = static_cast<int>(product.factors[factor]);
    const Block& now = schedule.block(block);
    const Access access = read_accesses(now).at(product.factors[factor]);
    form.reads[factor] = read;
    form.reduction_last[factor] = product.reduction_inside[factor];
    if (is_plain(now, access, factor_dims(now, factor, product.reduction_inside[factor]))) continue;
    form.copies.push_back(schedule.reindex_cache_read(
        block, read, kScopeGlobal, map_of_factor(schedule, block, factor, product.reduction_inside[factor])));
    inline_producers(schedule, form.copies.back());
  }
  const Block& now = schedule.block(block);
  if (!is_plain(now, write_accesses(now).front(), result_dims(now)))
    form.result = schedule.reindex_cache_write(block, 0, kScopeGlobal, map_of_result(schedule, block));
  return form;
}

std::string map_of_factor(const Schedule& schedule, BlockRV block, size_t factor, bool reduction_last) {
  const Block& product = schedule.block(block);
  return projection(product, factor_dims(product, factor, reduction_last));
}

std::string map_of_result(const Schedule& schedule, BlockRV block) {
  const Block& product = schedule.block(block);
  return projection(product, result_dims(product));
}

}  // namespace tunesmith
