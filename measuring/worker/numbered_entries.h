// The threads and the descriptors of this process, as the system lists them.
#pragma once

#include <vector>

namespace tunesmith {

/// The entries of the folder whose names are numbers, in ascending order, without the descriptor by which the
/// folder itself is read. Empty where it cannot be read.
std::vector<int> numbered_entries(const char* folder);

}  // namespace tunesmith
