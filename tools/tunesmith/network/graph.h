// A picture of a network and its kernels, as text for Graphviz.
#pragma once

#include <string>

#include "tasks.h"

namespace tunesmith::cli {

/// Draws a box for each kernel with its nodes inside, and an arrow for each tensor that one kernel computes
/// and another reads; arrows between kernels have the type and shape. Leaves out constants.
std::string to_dot(const TaskedNetwork& tasked);

}  // namespace tunesmith::cli
