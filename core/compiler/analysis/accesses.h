// Operations on an access, for primitives.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "tunesmith/analysis/accesses.h"

namespace tunesmith {

/// The `index`-th of read_accesses() (`sort` "read") or write_accesses() ("write"). Throws ScheduleError if
/// there is none.
Access require_access(const Program& program, const Block& block, std::string_view sort, int64_t index,
                      std::string_view primitive);

/// Redirects the loads of `access` in the block to `to` at `indices`; other loads of its buffer stay.
void redirect_reads(Block& block, const Access& access, const Buffer& to, std::span<const Expr> indices);

}  // namespace tunesmith
