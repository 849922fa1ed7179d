#include "worker/prepared_memory.h"

#include <cstring>

#include "worker/worker_faults.h"

namespace tunesmith {

PreparedMemory::PreparedMemory(int64_t bytes, Placement placement, std::byte poison)
    : memory_(bytes, 64, placement) {
  std::memset(memory_.data(), std::to_integer<int>(poison), static_cast<size_t>(bytes));
  watch_for_faults(memory_);
}

PreparedMemory::~PreparedMemory() { unwatch(memory_); }

}  // namespace tunesmith
