#include "estimate.h"

#include <algorithm>
#include <cmath>

namespace tunesmith::analytical {
namespace {

constexpr double kMemoryLatency = 10.0;  // cycles from a store to the load that follows it
constexpr double kHandOver = 2000.0;     // cycles to start work on other cores
constexpr double kSpilled = 3.0;         // cycles to store and load an accumulator that has no register
constexpr double kNewRun = 0.3;          // cycles when data missing in the first level continues elsewhere

/// The cost of an operation relative to a vector multiply-add.
struct Weight {
  size_t column;
  double weight;
};

/// The positions of the features that the estimate reads.
struct Columns {
  size_t at(const char* name) const { return feature_index(name); }

  const Weight weights[14] = {
      {at("float_fma"), 1.0},    {at("float_add"), 1.0},         {at("float_mul"), 1.0},
      {at("float_minmax"), 1.0}, {at("float_div"), 8.0},         {at("int_div"), 8.0},
      {at("float_select"), 2.0}, {at("int_select"), 2.0},        {at("float_call"), 12.0},
      {at("int_add"), 0.25},     {at("int_mul"), 0.25},          {at("int_minmax"), 0.25},
      {at("int_cast"), 0.0},     {at("div_by_one_value"), -7.0},
  };
  const size_t counted[17] = {at("float_fma"),    at("float_add"),     at("float_mul"),    at("float_div"),
                              at("float_minmax"), at("float_compare"), at("float_select"), at("float_call"),
                              at("float_cast"),   at("int_add"),       at("int_mul"),      at("int_div"),
                              at("int_minmax"),   at("int_compare"),   at("int_select"),   at("int_cast"),
                              at("logical")};
  const size_t vector_operations = at("vector_operations");
  const size_t executions = at("executions");
  const size_t imbalance = at("parallel_imbalance");
  const size_t parallel = at("parallel_product");
  const size_t memory_instructions = at("memory_instructions");
  const size_t accumulates = at("accumulates");
  const size_t in_register = at("buffer0_in_register");
  const size_t accumulates_in_registers = at("accumulates_in_registers");
  const size_t vectors = at("vector_fill");
  const size_t lanes = at("lanes");
  const size_t loads_gathered = at("loads_gathered");
  const size_t loads_masked = at("loads_masked");
  const size_t store_masked = at("store_masked");
  const size_t chain_length = at("chain_length");
  const size_t chains = at("chains");
  const size_t serial_inside = at("serial_inside");
  const size_t parallel_inside = at("parallel_inside");
  const size_t l1_traffic = at("memory_l1_traffic");
  const size_t l1_runs = at("memory_l1_runs");
  const size_t l2_traffic = at("memory_l2_traffic");
  const size_t l3_traffic = at("memory_l3_traffic");
  const size_t other_core_traffic = at("memory_other_core_traffic");
  const size_t launches = at("launches");
};

const Columns& columns() {
  static const Columns columns;
  return columns;
}

/// Arithmetic instructions weighted by cost. The features count operations
/// of each kind over all lanes, and the instructions of all kinds together.
double weighted_instructions(std::span<const float> row) {
  const Columns& c = columns();
  double operations = 0.0;
  double weighted = 0.0;
  for (const size_t column : c.counted) operations += row[column];
  for (const Weight& one : c.weights) weighted += one.weight * row[one.column];
  return operations > 0.0 ? row[c.vector_operations] * std::max(weighted, 0.0) / operations : 0.0;
}

/// Iterations of the innermost run-time loop, and of the loops around it.
double iterations(std::span<const float> row) {
  const Columns& c = columns();
  double inside = row[c.executions];
  for (const float by : {row[c.serial_inside], row[c.parallel_inside]}) {
    if (by > 0.0F) inside = std::min<double>(inside, by);
  }
  return inside > 0.0 ? row[c.executions] / inside : 0.0;
}

/// Accumulations into one element are sequential; independent ones of the unrolled tile overlap.
double latency_bound(std::span<const float> row, const Machine& machine) {
  const Columns& c = columns();
  if (row[c.accumulates] == 0.0F) return 0.0;
  return row[c.chain_length] *
         (row[c.accumulates_in_registers] != 0.0F ? machine.fma_latency : kMemoryLatency);
}

/// Cycles of loads and stores: 1 / loads_per_cycle for a load, one for a store, a mask or a gathered element.
double access_cycles(std::span<const float> row, const Machine& machine) {
  const Columns& c = columns();
  const bool accumulates = row[c.accumulates_in_registers] != 0.0F;
  const double vectors = row[c.executions] * std::max(1.0F, row[c.vectors]);
  const double stores = row[c.in_register] != 0.0F || accumulates ? 0.0 : vectors;
  const double masked = row[c.executions] * (row[c.loads_masked] + row[c.store_masked]);
  const double gathered = row[c.executions] * row[c.loads_gathered] * row[c.lanes];
  // Operands of a multiply-add need a few registers, too.
  const double beyond = std::max(0.0, row[c.chains] - (machine.vector_registers - 3.0));
  const double spilled = accumulates ? vectors * beyond / std::max(1.0F, row[c.chains]) : 0.0;
  return row[c.memory_instructions] / machine.loads_per_cycle + 0.5 * stores + masked + gathered +
         kSpilled * spilled;
}

}  // namespace

Machine machine_from(const DeviceModel& device) {
  Machine machine;
  machine.cores = device.get_or("cores", machine.cores);
  machine.vector_registers = device.get_or("vector_registers", machine.vector_registers);
  machine.fma_per_cycle = device.get_or("fma_per_cycle", machine.fma_per_cycle);
  return machine;
}

double StoreCycles::total() const {
  const double instructions = compute + loops;
  return std::sqrt(instructions * instructions + l2 * l2 + memory * memory) + other_cores + launch;
}

StoreCycles estimate_store(std::span<const float> row, const Machine& machine) {
  const Columns& c = columns();
  // The share of the busiest core.
  const bool shared = row[c.parallel] > 1.0F && row[c.imbalance] > 0.0F;
  const double share = shared ? row[c.imbalance] / machine.cores : 1.0;
  const double issue = weighted_instructions(row) / machine.fma_per_cycle;
  const double accesses = access_cycles(row, machine);
  const double overlapped = std::max(issue, accesses) + 0.25 * std::min(issue, accesses);
  StoreCycles cycles;
  cycles.compute = share * std::max(overlapped, latency_bound(row, machine));
  cycles.loops = share * iterations(row);
  cycles.l2 = share * (row[c.l1_traffic] / machine.l2_bytes_per_cycle + kNewRun * row[c.l1_runs]);
  const double from_memory = std::min(row[c.l3_traffic], row[c.l2_traffic]);
  const double from_l3 = row[c.l2_traffic] - from_memory;
  cycles.memory =
      share * (from_l3 / machine.l3_bytes_per_cycle + from_memory / machine.memory_bytes_per_cycle);
  cycles.other_cores = share * row[c.other_core_traffic] / machine.other_core_bytes_per_cycle;
  cycles.launch = kHandOver * row[c.launches];
  return cycles;
}

double estimate_cycles(const FeatureRows& rows, const Machine& machine) {
  double cycles = 0.0;
  for (size_t i = 0; i < rows.rows(); ++i) cycles += estimate_store(rows.row(i), machine).total();
  return std::max(1.0, cycles);
}

}  // namespace tunesmith::analytical
