// Asynchronous calls of intrinsics: the statements that wait for them, and those before barriers.
#pragma once

#include <string>

#include "tunesmith/ir/stmt.h"

namespace tunesmith::cuda {

/// The wait statement for the calls of a loop that contains nothing
/// else; "" for other loops, or if there is nothing to wait for.
std::string left_under_way(const Loop& loop);

/// The statement before each barrier of a launch; "" if there is none.
std::string text_before_barriers(const Stmt& launch);

}  // namespace tunesmith::cuda
