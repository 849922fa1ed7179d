// The boxes of a buffer that a block reads and writes while some loops around it run.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "tunesmith/affine/region.h"
#include "tunesmith/ir/program.h"

namespace tunesmith {

/// Which loops run; all others are fixed. The analyzer has the ranges of all.
struct Viewpoint {
  std::vector<Var> moving;
  Analyzer analyzer;
};

/// The loops strictly below `above` (an ancestor of the block) and around the block run.
Viewpoint view_from(const Stmt& above, const Block& block);

/// A box around all elements of `buffer` that `block` reads, with `bindings` for its iterators, ignoring its
/// predicate. Nothing if it does not read the buffer. May exceed the buffer if a Select guards the access.
std::optional<Region> read_region(const Block& block, std::span<const Expr> bindings, const Buffer& buffer,
                                  const Viewpoint& view);

/// A box around all elements of `buffer` that `block` reads or writes, ignoring its predicate. Nothing if it
/// does not access the buffer.
std::optional<Region> touched_region(const Block& block, const Buffer& buffer, const Viewpoint& view);

/// A box that `block` writes wholly, within `buffer`, while the loops below `above` run. Nothing if none is
/// proved. `conditions` receives the conditions on the fixed loops under which the block runs at all.
std::optional<Region> written_region(const Block& block, const Buffer& buffer, const Stmt& above,
                                     std::vector<Expr>* conditions);

/// Does `outer` contain the part of `inner` within the buffer?
bool covers_within(const Region& outer, const Region& inner, const Buffer& buffer, const Analyzer& analyzer);

}  // namespace tunesmith
