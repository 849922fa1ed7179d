// How a kernel is launched.
#pragma once

#include <array>
#include <cstddef>

namespace tunesmith::cuda {

struct Launch {
  std::array<unsigned, 3> grid{1, 1, 1};   // in blocks
  std::array<unsigned, 3> block{1, 1, 1};  // in threads
  size_t dynamic_shared_bytes = 0;

  size_t threads() const { return size_t(block[0]) * block[1] * block[2]; }
};

}  // namespace tunesmith::cuda
