// Calls of intrinsics that run on while their thread does: what waits for them, and what barriers need.
#pragma once

#include <string>

#include "tunesmith/ir/stmt.h"

namespace tunesmith::cuda {

/// What waits for the calls of a loop that makes nothing else; "" for one that does, or leaves nothing to
/// wait for.
std::string left_under_way(const Loop& loop);

/// The statement that stands before each barrier of a launch; "" for none.
std::string text_before_barriers(const Stmt& launch);

}  // namespace tunesmith::cuda
