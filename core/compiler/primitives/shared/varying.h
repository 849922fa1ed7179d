// Refusals of primitives because of dynamic extents.
#pragma once

#include <optional>

#include "analysis/loop_tools.h"

namespace tunesmith {

/// A refusal if the block accesses a buffer with dynamic extents.
std::optional<Refusal> varying_refusal(const Block& block);
/// A refusal if `buffer` has dynamic extents and a reduction's number of steps is dynamic: a replacement
/// buffer would have static extents.
std::optional<Refusal> replaced_refusal(const Program& program, const Buffer& buffer);

}  // namespace tunesmith
