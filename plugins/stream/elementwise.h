// Element-wise operators: whole vectors in the order of memory, on all cores.
#pragma once

#include <string>

#include "reductions.h"

namespace tunesmith {

/// Does the block read neighbouring or equal elements for neighbouring results?
bool is_streamed_elementwise(const Block& block);

StreamSketch stream_elementwise(const Schedule& schedule, const std::string& block,
                                const StreamChoices& choices);

}  // namespace tunesmith
