// What the tile sampling kinds share.
#pragma once

#include <string_view>

#include "tunesmith/ir/program.h"
#include "tunesmith/trace/instruction.h"

namespace tunesmith {

/// The domain of tuples of `parts` factors of the loop's extent. Throws ScheduleError when there is none.
SamplingDomain tile_domain(const Program& program, LoopId loop, int64_t parts, std::string_view primitive);

/// Is `tile` a tuple of as many factors as the domain wants, with its extent as product?
bool is_tile_of(const SamplingDomain& domain, const Decision& tile);

}  // namespace tunesmith
