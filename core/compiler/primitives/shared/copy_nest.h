// Builds the block of a cache, which copies a buffer element by element.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/loop_tools.h"
#include "tunesmith/ir/program.h"

namespace tunesmith {

struct BlockNest {
  StmtPtr nest;
  Block* block = nullptr;
};

/// Loops ax0, ax1, ... over `extents` around a block with
/// iterators v0, v1, ..., from which `make_body` makes the body.
BlockNest make_block_nest(Program& program, const std::string& block_name, std::span<const int64_t> extents,
                          const std::function<StmtPtr(const std::vector<Expr>&)>& make_body);

/// Loops over all of `to`'s elements, which are copied from `from`, a buffer of the same shape.
BlockNest make_copy_nest(Program& program, const std::string& block_name, const Buffer& from,
                         const Buffer& to);

/// Nothing if a copy of `buffer` may be placed directly before the loop nest of `block`: all writers of the
/// buffer come before that nest.
std::optional<Refusal> copy_before_refusal(const Program& program, Block& block, const Buffer& buffer);

/// copy_before_refusal() for a copy of the whole buffer: a writer must write every element.
std::optional<Refusal> whole_copy_refusal(const Program& program, Block& block, const Buffer& buffer);

/// A new intermediate with the shape and the type of `like`, named after it and `scope`, declared in
/// `program`.
Buffer add_cache_buffer(Program& program, const Buffer& like, std::string_view scope);

}  // namespace tunesmith
