// A map between index spaces: "(i, j) -> (i // 16, j, i % 16)".
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "tunesmith/ir/expr.h"

namespace tunesmith {

struct IndexMap {
  std::vector<Var> params;
  std::vector<Expr> results;

  /// The results with `values` for the parameters.
  std::vector<Expr> apply(std::span<const Expr> values) const;
  /// The parameters, which run over [0, extent), at which the results are `values`; for a map that is
  /// one-to-one and onto its box. Nothing when they cannot be told.
  std::optional<std::vector<Expr>> invert(std::span<const int64_t> extents,
                                          std::span<const Expr> values) const;
};

/// The results' extents when each parameter runs over [0, extent), for a map that is one-to-one on these
/// points and gives no negative index.
struct MapImage {
  std::vector<int64_t> extents;
  bool onto = false;  // every point of the box is given
};

/// Has a buffer of this shape more than 2^36 elements?
bool is_too_large(std::span<const int64_t> extents);

/// "" when the map may be used on `extents`, else why not.
std::string_view check_index_map(const IndexMap& map, std::span<const int64_t> extents, MapImage* image);

}  // namespace tunesmith
