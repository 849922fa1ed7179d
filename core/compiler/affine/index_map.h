// Maps between index spaces, such as "(i, j) -> (i // 16, j, i % 16)".
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
  /// The parameters in [0, extent) for which the results are `values`, if the map is one-to-one and onto its
  /// box. Nothing if no inverse is found.
  std::optional<std::vector<Expr>> invert(std::span<const int64_t> extents,
                                          std::span<const Expr> values) const;
};

/// The image of a one-to-one map without negative results, with each parameter in [0, extent).
struct MapImage {
  std::vector<int64_t> extents;
  bool onto = false;  // the image is the whole box
};

/// Has a buffer of this shape more than 2^36 elements?
bool is_too_large(std::span<const int64_t> extents);

/// "" if the map may be used on `extents`, else why not.
std::string_view check_index_map(const IndexMap& map, std::span<const int64_t> extents, MapImage* image);

}  // namespace tunesmith
