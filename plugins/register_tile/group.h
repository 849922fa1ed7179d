// What a register tile is made of: a reduction with what follows it element by element, and reductions that
// share such a reader.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <tunesmith/stable/module.h>

namespace tunesmith {

struct Group {
  /// Names, in the order of the text. Of several all are tiled alike under the same loops.
  std::vector<std::string> blocks;
  /// Takes their results, element by element, as each tile is complete; nothing: they are copied.
  std::optional<std::string> reader;
};

/// The block by itself.
Group group_of(const Program& program, const Block& block);

/// The block and others that have the same iterators and the same only reader, as the two products of
/// a gated unit; nothing where there are none.
std::optional<Group> siblings_of(const Program& program, const Block& block);

}  // namespace tunesmith
