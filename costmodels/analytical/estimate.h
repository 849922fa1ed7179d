// An estimate of a lowered program's time from its features, without ever running anything.
#pragma once

#include <span>

#include <tunesmith/performance/features.h>
#include <tunesmith/target/device_model.h>

namespace tunesmith::analytical {

/// What the features do not say of the machine.
struct Machine {
  double cores = 1;
  double vector_registers = 16;
  double fma_per_cycle = 2;
  double loads_per_cycle = 2;
  double fma_latency = 4;                 // cycles from one accumulation to the next
  double l2_bytes_per_cycle = 64;         // from the second level into the first
  double l3_bytes_per_cycle = 64;         // from the last level: fetched ahead, mostly
  double memory_bytes_per_cycle = 16;     // from beyond it
  double other_core_bytes_per_cycle = 2;  // from another core's cache
};
Machine machine_from(const DeviceModel& device);

/// Cycles of all executions of one store on the busiest core, by what they go to.
struct StoreCycles {
  double compute = 0.0;  // arithmetic and loads, which overlap, or the wait of an accumulation for the last
  double loops = 0.0;    // iterations
  double l2 = 0.0;       // bringing in what the first level does not hold
  double memory = 0.0;   // and what the second does not, from the last level or from memory
  double other_cores = 0.0;  // and what another core has written
  double launch = 0.0;       // giving work to the other cores

  double total() const { return compute + loops + l2 + memory + other_cores + launch; }
};

/// The model: arithmetic and load issue of every store, with operands that unrolled loops share counted once;
/// the latency of accumulators that are too few; spilled tiles; traffic of each cache level by the footprint
/// of the loops that fit it. `row` has the numbers of feature_columns().
StoreCycles estimate_store(std::span<const float> row, const Machine& machine);

/// Of all stores of a program; at least 1.
double estimate_cycles(const FeatureRows& rows, const Machine& machine);

}  // namespace tunesmith::analytical
