// What a lowered program for a grid of threads does, counted from its text, and how long that takes by the
// quantities of a machine. Nothing is run or compiled.
#pragma once

#include <vector>

#include "tunesmith/ir/program.h"
#include "tunesmith/performance/lockstep_access.h"
#include "tunesmith/target/device_model.h"

namespace tunesmith {

/// Of all threads of one launch together, unless it says otherwise. What several threads of a group that
/// runs in lockstep do at once is counted for each.
struct GridWork {
  double blocks = 1.0;
  double threads = 1.0;       // of a block
  double arithmetic = 0.0;    // operations: a product and the sum that it goes into are one
  double instructions = 0.0;  // these, loads and stores of memory, conditions and loops
  double sectors = 0.0;       // of memory that all share
  double wavefronts = 0.0;    // of memory with banks
  double unit_cycles = 0.0;   // that calls of tensor intrinsics keep a unit of a core busy
  /// Of these three, what bulk copies and the calls behind them do. It continues while threads wait, so that
  /// few groups of them keep a core busy with it.
  double bulk_sectors = 0.0, bulk_wavefronts = 0.0, bulk_unit_cycles = 0.0;
  double touched_bytes = 0.0;  // different ones of memory that all share
  double barriers = 0.0;       // that a block comes to
  double fetches = 0.0;        // how often a block waits for what it has asked memory for
  double ahead = 0.0;          // iterations that these are made ahead of their use, on average
  double block_bytes = 0.0;    // memory of a block
  double registers = 0.0;      // of 4 bytes that a thread needs, estimated
};

/// For each launch. What unrolled loops load again and again at one place is counted once.
std::vector<GridWork> grid_work(const Program& lowered, const LockstepMachine& machine);

/// Seconds of a launch, by what takes them.
struct GridTime {
  double arithmetic = 0.0;
  double issue = 0.0;   // of instructions
  double unit = 0.0;    // of tensor intrinsics
  double banked = 0.0;  // memory with banks
  double cache = 0.0;   // between the cores and the cache that they share
  double memory = 0.0;  // what lies behind it
  double barriers = 0.0;
  /// Of memory, that nothing hides. A fetch takes so many cycles until it arrives. Meanwhile a core does the
  /// steps by which it is ahead, and one of each other block that it holds.
  double latency = 0.0;
  double launch = 0.0;

  double resident_blocks = 0.0;  // that a core holds; at least 1
  double waves = 0.0;            // until all blocks have run

  /// The longest of those that overlap and a share of the others, and what nothing overlaps.
  double total() const;
};

/// How the threads of `device` run; nothing when they do not run in lockstep.
std::optional<LockstepMachine> lockstep_machine(const ExecutionModel& execution, const DeviceModel& device);

/// By the quantities that device_model.h lists for targets with a grid. Throws EnvironmentError naming one
/// that is missing.
GridTime grid_time(const GridWork& work, const DeviceModel& device);

/// Of all launches, one after the other; more than 0.
double grid_seconds(const Program& lowered, const ExecutionModel& execution, const DeviceModel& device);

}  // namespace tunesmith
