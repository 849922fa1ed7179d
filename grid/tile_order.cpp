#include "tunesmith/grid/tile_order.h"

#include "tunesmith/lower/lower.h"

namespace tunesmith {

std::optional<TileOrder> tile_order_of(const Loop& loop) {
  const auto number = [&](const char* key) -> const int64_t* {
    const auto found = loop.annotations.find(key);
    return found == loop.annotations.end() ? nullptr : std::get_if<int64_t>(&found->second);
  };
  if (!loop.annotations.contains(kTileColumns) && !loop.annotations.contains(kTileGroup)) return std::nullopt;
  const int64_t* columns = number(kTileColumns);
  const int64_t* group = number(kTileGroup);
  if (columns == nullptr || group == nullptr || *columns < 1 || *group < 1 ||
      !loop.extent.is(ExprKind::IntImm) || loop.const_extent() % *columns != 0)
    throw LowerError("tile_order", "the tiles of a launch are no whole rows in groups of at least one",
                     loop.var->name);
  if (*columns == 1 || *group == 1 || *columns == loop.const_extent()) return std::nullopt;
  return TileOrder{*columns, *group};
}

}  // namespace tunesmith
