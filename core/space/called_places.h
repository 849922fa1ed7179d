#pragma once

#include <string>

#include "tunesmith/ir/program.h"

namespace tunesmith {

/// Which tensor intrinsics a lowered program calls, and where each is implemented, for the message of its
/// failure: "acme.yaml:14: tensor intrinsic acme_dot", several with commas between them, by name; "" where it
/// calls none.
std::string called_places(const Program& lowered);

}  // namespace tunesmith
