// What primitives refuse where extents vary.
#pragma once

#include <optional>

#include "analysis/loop_tools.h"

namespace tunesmith {

/// When elements of a buffer that the block touches may not exist.
std::optional<Refusal> varying_refusal(const Block& block);
/// When the buffer is one of them and steps of a reduction depend on it: another one in its place has all.
std::optional<Refusal> replaced_refusal(const Program& program, const Buffer& buffer);

}  // namespace tunesmith
