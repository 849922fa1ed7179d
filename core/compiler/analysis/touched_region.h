// The boxes of a buffer that a block reads and writes while some loops around it run.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "tunesmith/affine/region.h"
#include "tunesmith/ir/program.h"

namespace tunesmith {

/// Which loops run; all others stand still. The analyzer has the ranges of all of them.
struct Viewpoint {
  std::vector<Var> moving;
  Analyzer analyzer;
};

/// The loops strictly below `above` (an ancestor of the block) and around the block run.
Viewpoint view_from(const Stmt& above, const Block& block);

/// A box around all that `block` reads of `buffer` with `bindings` for its iterators, its predicate left
/// out. Nothing when it does not read it. May begin or end outside the buffer where a select guards the
/// access.
std::optional<Region> read_region(const Block& block, std::span<const Expr> bindings, const Buffer& buffer,
                                  const Viewpoint& view);

/// A box around all that `block` reads and writes of `buffer`, its predicate left out. Nothing when it does
/// not touch it.
std::optional<Region> touched_region(const Block& block, const Buffer& buffer, const Viewpoint& view);

/// The box of `buffer` that `block` writes while the loops below `above` run: every element of the box that
/// lies in the buffer. Nothing when that cannot be shown. `conditions` gets what must hold of the loops that
/// stand still for the block to run at all.
std::optional<Region> written_region(const Block& block, const Buffer& buffer, const Stmt& above,
                                     std::vector<Expr>* conditions);

/// True when all that lies in the buffer of `inner` is in `outer`.
bool covers_within(const Region& outer, const Region& inner, const Buffer& buffer, const Analyzer& analyzer);

}  // namespace tunesmith
