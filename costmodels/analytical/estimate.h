// Estimates a lowered program's time from its features, without running it.
#pragma once

#include <span>

#include <tunesmith/performance/features.h>
#include <tunesmith/target/device_model.h>

namespace tunesmith::analytical {

/// Machine properties that the features do not contain.
struct Machine {
  double cores = 1;
  double vector_registers = 16;
  double fma_per_cycle = 2;
  double loads_per_cycle = 2;
  double fma_latency = 4;                 // cycles from one accumulation to the next
  double l2_bytes_per_cycle = 64;         // from the second level into the first
  double l3_bytes_per_cycle = 64;         // from the last level, mostly prefetched
  double memory_bytes_per_cycle = 16;     // from beyond it
  double other_core_bytes_per_cycle = 2;  // from another core's cache
};
Machine machine_from(const DeviceModel& device);

/// Cycles of all executions of one store on the busiest core, by cause.
struct StoreCycles {
  double compute = 0.0;      // arithmetic and overlapping loads, or the latency of accumulations
  double loops = 0.0;        // iterations
  double l2 = 0.0;           // for data missing in the first level
  double memory = 0.0;       // for data missing in the second level, from the last level or memory
  double other_cores = 0.0;  // for data that another core has written
  double launch = 0.0;       // starting work on the other cores

  /// Instructions, the second level and the levels beyond overlap partly: the root of the sum of their
  /// squares, plus other_cores and launch.
  double total() const;
};

/// Models issue of arithmetic and loads, counting operands that unrolled loops share once; masks and gathers;
/// the latency of too few accumulators; spilled accumulators; and the traffic of each cache level, by the
/// footprint of the loops that fit it. `row` has the values of feature_columns().
StoreCycles estimate_store(std::span<const float> row, const Machine& machine);

/// The cycles of all stores of a program, at least 1.
double estimate_cycles(const FeatureRows& rows, const Machine& machine);

}  // namespace tunesmith::analytical
