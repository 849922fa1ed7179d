// The number of thread blocks that a core can hold at once.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tunesmith/target/device_model.h"

namespace tunesmith {

/// The resources of a core for resident blocks, and their
/// granularity. Counts, bytes, and registers of 4 bytes.
struct CoreLimits {
  int64_t registers = 0;
  int64_t register_unit = 1;  // registers are allocated in multiples of this per group of threads in lockstep
  int64_t parts = 1;          // of a core, each with its share of the registers
  int64_t threads = 0;
  int64_t blocks = 0;
  int64_t shared_bytes = 0;
  int64_t reserved_bytes = 0;  // of each block's shared memory, in addition to its request
  int64_t shared_unit = 1;
  int64_t lockstep = 1;  // number of threads that run in lockstep
  int64_t block_threads = 0;
  int64_t block_shared_bytes = 0;

  /// Blocks of this many threads, with these registers per thread and shared bytes; 0 if none fits.
  int64_t resident_blocks(int64_t thread_registers, int64_t threads_of_block, int64_t bytes_of_block) const;
};

/// From the quantities of a target with a grid. Throws EnvironmentError with the name of a missing one.
CoreLimits core_limits(const DeviceModel& device);

}  // namespace tunesmith
