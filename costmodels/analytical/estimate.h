// An estimate of a lowered program's time from its loops and accesses, without ever running anything.
#pragma once

#include <tunesmith/lower/lower.h>
#include <tunesmith/target/device_model.h>

namespace tunesmith::analytical {

/// The machine, as far as the estimate looks at it.
struct Machine {
  double cores = 1;
  double vector_bits = 128;
  double registers = 16;
  double fma_per_cycle = 2;
  double loads_per_cycle = 2;
  double fma_latency = 4;  // cycles from one accumulation to the next
  double l1_bytes = 32768;
  double l2_bytes = 1048576;
  double l2_bytes_per_cycle = 32;     // from the second level into the first
  double memory_bytes_per_cycle = 8;  // from beyond the second level
};
Machine machine_from(const DeviceModel& device);

/// Cycles on the busiest core. The model: arithmetic and load issue of every innermost body, with operands
/// that unrolled loops share counted once; the latency of accumulators that are too few; spilled tiles;
/// traffic of each cache level by the footprint of the loops that fit it, where a walk by a large power of
/// two takes the sets that it leaves out, too (conflict misses).
double estimate_cycles(const Program& lowered, const Machine& machine);

}  // namespace tunesmith::analytical
