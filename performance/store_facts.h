// The input of the columns: one store, its loops, its accesses and the machine.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "tunesmith/affine/simplify.h"
#include "tunesmith/ir/program.h"
#include "tunesmith/target/device_model.h"

namespace tunesmith::features {

/// The quantities that the columns use; 0 if the machine's description lacks one.
struct Machine {
  explicit Machine(const DeviceModel& device);
  double cores, vector_bits, vector_registers, fma_per_cycle, l1_bytes, l2_bytes, l3_bytes, l1_way_bytes,
      l2_way_bytes, line_bytes, max_threads_per_block, max_shared_bytes;
};

/// A loop around a store.
struct Level {
  const Loop* loop = nullptr;
  double trips = 1.0;      // the maximum, if the range varies
  bool intrinsic = false;  // it, or one around it, is a call of a tensor intrinsic
};

/// How far one iteration of a loop moves an access.
struct Motion {
  bool moves = false;
  double stride = 0.0;  // in elements; 0: unknown
  double places =
      1.0;  // distinct places over the loop's iterations; fewer than iterations if a remainder repeats
};

/// All accesses of one store to one buffer.
struct Access {
  Buffer buffer;
  bool reads = false;
  bool writes = false;
  double count = 0.0;  // loads and stores in the statement
  double lanes = 1.0;  // of the widest access
  double lane_stride = 1.0;
  bool contiguous = true;
  std::vector<Motion> motion;  // by levels, outermost first
  Expr index;                  // of the first access, in its first lane
  LinearForm form;             // of that index

  bool in_register = false;
  double element_bytes = 0.0;
  // For the loops from level i inwards; one entry more than levels, for the statement itself.
  std::vector<double> bytes_inside;  // distinct bytes touched
  std::vector<double> lines_inside;  // cache lines of these bytes
  std::vector<double> runs_inside;   // contiguous pieces of these bytes
  std::vector<double> step_inside;   // greatest common divisor of the steps between these pieces, in bytes

  double elements = 0.0;      // accessed in all executions, counting repetitions
  double instructions = 0.0;  // vector loads and stores executed, shared by unrolled iterations
  double l1_traffic = 0.0;    // bytes loaded from beyond a cache of that capacity
  double l2_traffic = 0.0;
  double l3_traffic = 0.0;
  double l1_runs = 0.0;  // contiguous pieces of this traffic
  double l2_runs = 0.0;
  double l3_runs = 0.0;
  double other_core_traffic = 0.0;  // bytes last written by another core
  int reuse_level = -1;             // innermost loop that does not move it; -1 if none
  bool reuse_by_statement = false;
  double reuse_iterations = 0.0;
  double reuse_bytes = 0.0;
  double reuse_count = 0.0;
};

enum Operation {
  kFloatFma,
  kFloatAdd,
  kFloatMul,
  kFloatDiv,
  kFloatMinMax,
  kFloatCompare,
  kFloatSelect,
  kFloatCall,
  kFloatCast,
  kIntAdd,
  kIntMul,
  kIntDiv,
  kIntMinMax,
  kIntCompare,
  kIntSelect,
  kIntCast,
  kLogical,
  kIndexArithmetic,
  kOperations  // how many there are
};
enum OperandType { kTypeF64, kTypeF32, kTypeHalf, kTypeI64, kTypeI32, kTypeI8, kOperandTypes };

struct StoreFacts {
  explicit StoreFacts(const Machine& m) : machine(m) {}

  const Machine& machine;
  const Store* store = nullptr;
  std::vector<Level> levels;   // outermost first
  std::vector<double> inside;  // executions from level i inwards; one entry more than levels: 1
  double executions = 1.0;
  double lanes = 1.0;
  double conditions = 0.0;  // Ifs around
  double masked_loads = 0.0;
  double gathers = 0.0;     // non-contiguous vector loads per execution
  double broadcasts = 0.0;  // scalars loaded into all lanes per execution
  double launches = 0.0;    // of the enclosing parallel loop, counted for its first store only

  // Per execution, over all lanes.
  std::array<double, kOperations> operations{};
  std::array<double, kOperandTypes> by_type{};
  double vector_operations = 0.0;  // instructions with vectors of the machine's width
  double arithmetic = 0.0;         // on data; a multiply-add counts as two
  double divided_by_one = 0.0;     // divisions by a value that is equal in all lanes

  bool accumulates = false;
  double chains = 1.0;  // independent accumulations
  /// They stay in registers while the loop around the unrolled ones continues.
  bool accumulates_in_registers = false;

  std::vector<Access> accesses;  // of the written buffer first, then by accessed bytes, descending
  static constexpr size_t kCurvePoints = 10;
  std::array<double, kCurvePoints> curve{};

  double allocated_bytes = 0.0;  // of the written buffer; 0 if it is allocated outside of the program
  double allocations = 0.0;      // number of its allocations

  double product(LoopKind kind) const;
  /// Is the level of this kind? Serial and Vectorized loops count as serial.
  bool is(size_t level, LoopKind kind) const { return levels[level].loop->loop_kind == kind; }
  /// Does the loop move the store, or is it a reduction or repetition?
  bool spatial(size_t level) const { return accesses.front().motion[level].moves; }
};

/// Fills all fields except `levels`, `store`, `conditions` and the allocation. `uses`: the number of
/// statements that access each buffer. `earlier`: the preceding stores, in program order.
void analyse(StoreFacts& facts, const std::map<const BufferNode*, int>& uses,
             std::span<const StoreFacts> earlier);

}  // namespace tunesmith::features
