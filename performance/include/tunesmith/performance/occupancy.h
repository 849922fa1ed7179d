// How many blocks of threads a core holds at once.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tunesmith/target/device_model.h"

namespace tunesmith {

/// What a core has for the blocks that it holds, and in which units it is granted. Counts, bytes, and
/// registers of 4 bytes.
struct CoreLimits {
  int64_t registers = 0;
  int64_t register_unit = 1;  // a group of threads that run in lockstep gets a multiple of so many
  int64_t parts = 1;          // of a core, each with its share of the registers
  int64_t threads = 0;
  int64_t blocks = 0;
  int64_t shared_bytes = 0;
  int64_t reserved_bytes = 0;  // of each block's shared memory, besides what it asks for
  int64_t shared_unit = 1;
  int64_t lockstep = 1;  // threads that run in lockstep
  int64_t block_threads = 0;
  int64_t block_shared_bytes = 0;

  /// Blocks of so many threads, registers of each and bytes of shared memory; 0 when none fits.
  int64_t resident_blocks(int64_t thread_registers, int64_t threads_of_block, int64_t bytes_of_block) const;
};

/// From the quantities of a target with a grid. Throws EnvironmentError naming one that is missing.
CoreLimits core_limits(const DeviceModel& device);

}  // namespace tunesmith
