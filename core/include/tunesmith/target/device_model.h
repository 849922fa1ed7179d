// A machine as named quantities. Modules, validators, features and the roofline read these, never a device's
// name.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace tunesmith {

/// Names every target gives where they mean something:
///   cores               processors the program may use
///   vector_bits         widest vector register
///   vector_registers    of that width
///   vector_registers_used_by_tile  how many a register tile may take (accumulators + operands)
///   fma_per_cycle       vector multiply-adds a core starts each cycle, estimated
///   l1_bytes l2_bytes l3_bytes    data caches (l1, l2 of a core; l3 shared)
///   cache_line_bytes, l1_way_bytes l2_way_bytes (addresses a way apart fall on one set)
///   max_threads_per_block, max_shared_bytes, ...   for targets with a thread grid
///   warp_size           consecutive threads of a block that run in lockstep
///   sector_bytes        the pieces in which memory comes to them
///   access_bytes        what one instruction of a thread loads or stores at most
/// and for models of their times (features/grid_work.h, target/occupancy.h):
///   core_threads core_blocks core_registers core_shared_bytes    what a core holds at once
///   core_parts register_unit shared_unit_bytes reserved_shared_bytes    how it grants registers and memory
///   block_shared_bytes max_thread_registers     what a block and a thread may have of it
///   issue_per_cycle     instructions of threads that a core begins each cycle
///   clock_ghz memory_bytes_per_second l2_bytes_per_second barrier_cycles launch_seconds
///   memory_latency_cycles    until what a thread loads from memory arrives (0 where it is not given)
/// Values are in bytes, counts and bits as the name says.
class DeviceModel {
 public:
  void set(std::string name, double value) { quantities_[std::move(name)] = value; }
  std::optional<double> find(std::string_view name) const;
  /// Throws EnvironmentError naming the quantity when the target does not give it.
  double get(std::string_view name) const;
  double get_or(std::string_view name, double fallback) const;
  const std::map<std::string, double, std::less<>>& all() const { return quantities_; }

  /// A one-line description for people ("2 cores, 512-bit vectors"); nothing may depend on it.
  std::string description;

 private:
  std::map<std::string, double, std::less<>> quantities_;
};

}  // namespace tunesmith
