// Instructions for dot products, as of bytes or of bf16, that a tile may be made of.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tunesmith/stable/module.h>

#include "tile_form.h"

namespace tunesmith {

/// C[j] += A[k] * B[j, k] of so many lanes j and neighbours k at once.
struct DotUnit {
  std::string name;  // of the tensor intrinsic
  int64_t lanes = 1;
  int64_t depth = 1;
};

/// The first intrinsic of these extensions that has the block's types, whose depth divides its innermost
/// reduction, and whose lanes divide the columns of its groups, or are half filled where it has none; nothing
/// where there is none. That it computes what the block does, `tensorize` proves.
std::optional<DotUnit> find_unit(const Block& block, const TileForm& form, const ModuleContext& context,
                                 const std::vector<std::string>& extensions);

}  // namespace tunesmith
