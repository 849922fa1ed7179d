// Counts the work of a lowered program for a grid of threads from its text, and
// estimates its time from the quantities of a machine, without compiling or running it.
#pragma once

#include <vector>

#include "tunesmith/ir/program.h"
#include "tunesmith/performance/lockstep_access.h"
#include "tunesmith/target/device_model.h"

namespace tunesmith {

/// The total of all threads of one launch, unless stated otherwise.
/// Work that threads of a group do in lockstep counts for each thread.
struct GridWork {
  double blocks = 1.0;
  double threads = 1.0;       // of a block
  double arithmetic = 0.0;    // operations: a multiply-add counts as one
  double instructions = 0.0;  // arithmetic, loads and stores of memory, conditions and loops
  double sectors = 0.0;       // of memory shared by all
  double wavefronts = 0.0;    // of memory with banks
  double unit_cycles = 0.0;   // busy cycles of a core's unit from calls of tensor intrinsics
  /// The part of these three in bulk copies and the calls that use them. It
  /// continues while threads wait, so that few groups of threads keep a core busy.
  double bulk_sectors = 0.0, bulk_wavefronts = 0.0, bulk_unit_cycles = 0.0;
  double touched_bytes = 0.0;  // distinct bytes of memory shared by all
  double barriers = 0.0;       // per block
  double fetches = 0.0;        // number of times that a block waits for requested memory
  double ahead = 0.0;          // iterations between request and use, on average
  double block_bytes = 0.0;    // memory of a block
  double registers = 0.0;      // registers of 4 bytes per thread, estimated
};

/// For each launch. Repeated loads of one place by unrolled loops count once.
std::vector<GridWork> grid_work(const Program& lowered, const LockstepMachine& machine);

/// The time of a launch in seconds, by cause.
struct GridTime {
  double arithmetic = 0.0;
  double issue = 0.0;   // of instructions
  double unit = 0.0;    // of tensor intrinsics
  double banked = 0.0;  // memory with banks
  double cache = 0.0;   // between the cores and their shared cache
  double memory = 0.0;  // memory behind that cache
  double barriers = 0.0;
  /// Memory latency that is not hidden: each fetch takes a fixed number of cycles, hidden by
  /// the iterations that the core is ahead and by one iteration of each other resident block.
  double latency = 0.0;
  double launch = 0.0;

  double resident_blocks = 0.0;  // per core; at least 1
  double waves = 0.0;            // until all blocks have run

  /// The longest of the overlapping parts, a share of the others, and everything that does not overlap.
  double total() const;
};

/// How the threads of `device` run in lockstep; nothing if they do not.
std::optional<LockstepMachine> lockstep_machine(const ExecutionModel& execution, const DeviceModel& device);

/// Uses the quantities that device_model.h lists for targets with
/// a grid. Throws EnvironmentError with the name of a missing one.
GridTime grid_time(const GridWork& work, const DeviceModel& device);

/// The sum over all launches in sequence; positive.
double grid_seconds(const Program& lowered, const ExecutionModel& execution, const DeviceModel& device);

}  // namespace tunesmith
