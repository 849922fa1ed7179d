// The blocks of a register tile: a reduction with its elementwise
// consumer, and reductions that share such a consumer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <tunesmith/stable/module.h>

namespace tunesmith {

struct Group {
  /// Names in text order. Several blocks are tiled alike under common loops.
  std::vector<std::string> blocks;
  /// Consumes their results element by element as each tile completes; nothing: results are copied.
  std::optional<std::string> reader;
};

/// The block by itself.
Group group_of(const Program& program, const Block& block);

/// The block and others with the same iterators and the same only reader
/// (the two products of a gated unit); nothing if there are none.
std::optional<Group> siblings_of(const Program& program, const Block& block);

}  // namespace tunesmith
