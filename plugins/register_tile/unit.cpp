#include "unit.h"

namespace tunesmith {
namespace {

/// The result's, that of what the columns share, and that of what moves with them.
bool has_types(const TensorIntrinsic& intrinsic, const Block& block, const TileForm& form) {
  if (intrinsic.operands.size() != 3) return false;
  for (const Access& read : read_accesses(block)) {
    if (read.buffer->dtype != intrinsic.operands[moves_with_columns(block, form, read) ? 2 : 1].buffer->dtype)
      return false;
  }
  return writes_of(block).front().buffer->dtype == intrinsic.operands[0].buffer->dtype;
}

}  // namespace

std::optional<DotUnit> find_unit(const Block& block, const TileForm& form, const ModuleContext& context,
                                 const std::vector<std::string>& extensions) {
  const std::vector<IterVar> iters = block.iters();
  for (const std::string& extension : extensions) {
    for (const TensorIntrinsic& intrinsic : context.intrinsics(extension)) {
      const std::vector<int64_t> lanes = intrinsic.extents(IterKind::Spatial);
      const std::vector<int64_t> depth = intrinsic.extents(IterKind::Reduction);
      if (lanes.size() != 1 || depth.size() != 1 || !has_types(intrinsic, block, form)) continue;
      const bool fits =
          has_groups(form, block) ? form.group_columns % lanes[0] == 0 : 2 * form.group_columns >= lanes[0];
      if (fits && iters[form.reductions.back()].extent % depth[0] == 0)
        return DotUnit{intrinsic.name, lanes[0], depth[0]};
    }
  }
  return std::nullopt;
}

}  // namespace tunesmith
