#include "measure/prepared_memory.h"

#include <cstring>

#include "measure/worker_faults.h"

namespace tunesmith {

PreparedMemory::PreparedMemory(int64_t bytes) : guarded_(bytes, 64), aligned_(whole_pages(bytes), 64) {
  std::memset(guarded_.data(), 0xff, static_cast<size_t>(bytes));
  std::memset(aligned_.data(), 0xff, static_cast<size_t>(bytes));
  guarded_.fill_canary();
  watch_for_faults(guarded_);
  watch_for_faults(aligned_);
}

PreparedMemory::~PreparedMemory() {
  unwatch(aligned_);
  unwatch(guarded_);
}

void PreparedMemory::protect() {
  guarded_.set_read_only(true);
  aligned_.set_read_only(true);
}

}  // namespace tunesmith
