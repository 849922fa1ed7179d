// Which tensor intrinsics a program calls, for messages about it.
#pragma once

#include <string>

#include "tunesmith/ir/program.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// Which tensor intrinsics a lowered program calls, and where each is implemented: "acme.yaml:14: tensor
/// intrinsic acme_dot", several with commas between them, by name; "" where it calls none.
std::string called_places(const Program& lowered);

/// The message of a failure of the lowered program, followed by what the program calls, whose implementation
/// may be at fault. Unchanged where it names an intrinsic itself, or the program calls none.
std::string with_called_places(std::string message, const Program& lowered);

}  // namespace tunesmith
#pragma GCC visibility pop
