#include "tunesmith/support/unique_id.h"

#include <cstdint>
#include <random>

#include "tunesmith/support/hash.h"

namespace tunesmith {

std::string make_id() {
  std::random_device entropy;
  return hex64(uint64_t{entropy()} << 32 | entropy());
}

}  // namespace tunesmith
