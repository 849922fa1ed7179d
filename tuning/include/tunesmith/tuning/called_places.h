// The tensor intrinsics that a program calls, for messages.
#pragma once

#include <string>

#include "tunesmith/ir/program.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// The tensor intrinsics that a lowered program calls, with the locations of their implementations:
/// "acme.yaml:14: tensor intrinsic acme_dot", separated by commas, by name; "" if it calls none.
std::string called_places(const Program& lowered);

/// A failure's message, followed by the intrinsics that the program calls, whose implementation
/// may be at fault. Unchanged if it already names an intrinsic, or the program calls none.
std::string with_called_places(std::string message, const Program& lowered);

}  // namespace tunesmith
#pragma GCC visibility pop
