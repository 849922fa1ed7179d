// A picture of a network and its kernels, as text for Graphviz.
#pragma once

#include <string>

#include "tasks.h"

namespace tunesmith::cli {

/// A box for each kernel with its nodes inside, and an arrow for each tensor that one computes and another
/// reads, with its type and shape where it is between kernels. Constants are left out.
std::string to_dot(const TaskedNetwork& tasked);

}  // namespace tunesmith::cli
