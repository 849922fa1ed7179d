#include "unit.h"

#include <optional>

namespace tunesmith {
namespace {

/// Compares the types of the result, the operand shared by columns, and the operand that moves with them.
bool has_types(const TensorIntrinsic& intrinsic, const Block& block, const TileForm& form) {
  if (intrinsic.operands.size() != 3) return false;
  for (const Access& read : read_accesses(block)) {
    if (read.buffer->dtype != intrinsic.operands[moves_with_columns(block, form, read) ? 2 : 1].buffer->dtype)
      return false;
  }
  return writes_of(block).front().buffer->dtype == intrinsic.operands[0].buffer->dtype;
}

std::optional<Unit> shape_of(const TensorIntrinsic& intrinsic) {
  const std::vector<int64_t> result = intrinsic.extents(IterKind::Spatial);
  const std::vector<int64_t> sum = intrinsic.extents(IterKind::Reduction);
  if (result.size() == 1 && sum.size() == 1)
    return Unit{.name = intrinsic.name, .lanes = result[0], .depth = sum[0]};
  if (result.size() == 2 && sum.size() == 2 && result[0] > 1) {
    return Unit{
        .name = intrinsic.name, .rows = result[0], .lanes = result[1], .steps = sum[0], .depth = sum[1]};
  }
  return std::nullopt;
}

bool fits(const Unit& unit, const Block& block, const TileForm& form) {
  const std::vector<IterVar> iters = block.iters();
  const bool groups = has_groups(form, block);
  if (const int64_t terms = iters[form.reductions.back()].extent; terms % (unit.steps * unit.depth) != 0) {
    // Three channels of an image are multiplied as four.
    if (unit.is_matrix_unit() || groups || form.separate_columns || 2 * terms < unit.depth) return false;
  }
  if (!unit.is_matrix_unit())
    return groups ? form.group_columns % unit.lanes == 0 : 2 * form.group_columns >= unit.lanes;
  return !groups && !form.separate_columns && form.period == 1 && 2 * form.group_columns >= unit.lanes &&
         iters[form.rows.back()].extent % unit.rows == 0;
}

/// Does it operate on the same tiles of sums?
bool has_tiles_of(const TensorIntrinsic& intrinsic, const Unit& unit, const DType& sums) {
  return intrinsic.extents(IterKind::Spatial) == std::vector<int64_t>{unit.rows, unit.lanes} &&
         !intrinsic.has_reduction() && intrinsic.operands.front().buffer->dtype == sums;
}

/// Nothing if no intrinsic initialises a tile.
std::optional<Unit> with_begin_and_end(Unit unit, const std::vector<TensorIntrinsic>& intrinsics,
                                       const DType& sums) {
  for (const TensorIntrinsic& intrinsic : intrinsics) {
    if (!has_tiles_of(intrinsic, unit, sums)) continue;
    if (intrinsic.operands.size() == 1) unit.zero = intrinsic.name;
    if (intrinsic.copies) unit.store = intrinsic.name;
  }
  if (unit.zero.empty()) return std::nullopt;
  return unit;
}

}  // namespace

std::vector<Unit> find_units(const Block& block, const TileForm& form, const ModuleContext& context,
                             const std::vector<std::string>& extensions) {
  std::vector<Unit> found;
  const DType sums = writes_of(block).front().buffer->dtype;
  for (const std::string& extension : extensions) {
    const std::vector<TensorIntrinsic> intrinsics = context.intrinsics(extension);
    std::optional<Unit> best;
    for (const TensorIntrinsic& intrinsic : intrinsics) {
      std::optional<Unit> unit = shape_of(intrinsic);
      if (!unit || !has_types(intrinsic, block, form) || !fits(*unit, block, form)) continue;
      if (best && best->rows >= unit->rows) continue;
      if (unit->is_matrix_unit()) {
        unit = with_begin_and_end(*unit, intrinsics, sums);
        if (!unit) continue;
        unit->registers = static_cast<int64_t>(
            context.device().get_or(extension + "_registers", static_cast<double>(unit->registers)));
      }
      best = unit;
    }
    if (best) found.push_back(*best);
  }
  return found;
}

}  // namespace tunesmith
