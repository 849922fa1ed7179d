// The threads and the descriptors of this process, as the system lists them.
#pragma once

#include <vector>

namespace tunesmith {

/// The numeric entries of the folder in ascending order, without the
/// descriptor that reads the folder. Empty if it cannot be read.
std::vector<int> numbered_entries(const char* folder);

}  // namespace tunesmith
