#include "columns.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tunesmith/performance/features.h"
#include "tunesmith/support/error.h"

namespace tunesmith::features {
namespace {

using F = const StoreFacts&;
using A = const Access&;

struct Column {
  const char* name;
  const char* unit;
  const char* meaning;
  double (*value)(F);
};

template <Operation kWhich>
double executed(F f) {
  return f.executions * f.operations[kWhich];
}
template <OperandType kWhich>
double executed_on(F f) {
  return f.executions * f.by_type[kWhich];
}

const Column kArithmetic[] = {
    {"float_fma", "operations", "products of floats that go straight into a sum, executed, in all lanes",
     &executed<kFloatFma>},
    {"float_add", "operations", "other sums and differences of floats", &executed<kFloatAdd>},
    {"float_mul", "operations", "other products of floats", &executed<kFloatMul>},
    {"float_div", "operations", "quotients of floats", &executed<kFloatDiv>},
    {"div_by_one_value", "operations",
     "quotients by a value that is the same in all lanes, of floats or integers",
     [](F f) { return f.executions * f.divided_by_one; }},
    {"float_minmax", "operations", "minima and maxima of floats", &executed<kFloatMinMax>},
    {"float_compare", "operations", "comparisons of floats", &executed<kFloatCompare>},
    {"float_select", "operations", "choices between floats", &executed<kFloatSelect>},
    {"float_call", "operations", "calls of mathematical functions (exp, tanh, ...)", &executed<kFloatCall>},
    {"float_cast", "operations", "conversions from or to floats", &executed<kFloatCast>},
    {"int_add", "operations", "sums, differences and functions of bits of integer data", &executed<kIntAdd>},
    {"int_mul", "operations", "products of integer data", &executed<kIntMul>},
    {"int_div", "operations", "quotients and remainders of integer data", &executed<kIntDiv>},
    {"int_minmax", "operations", "minima and maxima of integer data", &executed<kIntMinMax>},
    {"int_compare", "operations", "comparisons of integer data", &executed<kIntCompare>},
    {"int_select", "operations", "choices between integers", &executed<kIntSelect>},
    {"int_cast", "operations", "conversions between integers", &executed<kIntCast>},
    {"logical", "operations", "and, or, not", &executed<kLogical>},
    {"index_arithmetic", "operations", "arithmetic in indices and conditions over them",
     &executed<kIndexArithmetic>},
    {"on_f64", "operations", "of the above on data: those on f64", &executed_on<kTypeF64>},
    {"on_f32", "operations", "those on f32", &executed_on<kTypeF32>},
    {"on_half", "operations", "those on f16 and bf16", &executed_on<kTypeHalf>},
    {"on_i64", "operations", "those on i64 and u64", &executed_on<kTypeI64>},
    {"on_i32", "operations", "those on i32 and u32", &executed_on<kTypeI32>},
    {"on_i8", "operations", "those on integers of 8 and 16 bits", &executed_on<kTypeI8>},
    {"arithmetic", "operations", "all of them on data, where a multiply-add counts as two",
     [](F f) { return f.executions * f.arithmetic; }},
    {"arithmetic_per_execution", "operations", "arithmetic / executions", [](F f) { return f.arithmetic; }},
    {"vector_operations", "instructions",
     "arithmetic on data in instructions of the machine's vector width; one of a narrower vector is one",
     [](F f) { return f.executions * f.vector_operations; }},
};

const Column kVector[] = {
    {"lanes", "elements", "that one execution stores", [](F f) { return f.lanes; }},
    {"vector_fill", "1", "bits stored by one execution / vector_bits",
     [](F f) {
       return f.machine.vector_bits > 0.0
                  ? f.lanes * static_cast<double>(f.store->buffer->dtype.bits) / f.machine.vector_bits
                  : 0.0;
     }},
    {"store_masked", "1", "1 when lanes of the store are switched off by a mask",
     [](F f) { return f.store->mask ? 1.0 : 0.0; }},
    {"loads_masked", "loads", "in the statement that have a mask", [](F f) { return f.masked_loads; }},
    {"loads_gathered", "loads", "of vectors whose elements are no neighbours", [](F f) { return f.gathers; }},
    {"loads_broadcast", "loads", "of a scalar that goes into all lanes", [](F f) { return f.broadcasts; }},
};

// ---- Loops, by kind ----

double extent_of_innermost(F f, LoopKind kind) {
  for (size_t i = f.levels.size(); i-- > 0;) {
    if (f.is(i, kind)) return f.levels[i].trips;
  }
  return 0.0;
}
double loops_of(F f, LoopKind kind) {
  double count = 0.0;
  for (size_t i = 0; i < f.levels.size(); ++i) count += f.is(i, kind) ? 1.0 : 0.0;
  return count;
}
double product_of(F f, LoopKind kind, bool spatial) {
  double trips = 1.0;
  for (size_t i = 0; i < f.levels.size(); ++i) {
    if (f.is(i, kind) && f.spatial(i) == spatial) trips *= f.levels[i].trips;
  }
  return trips;
}
/// Executions of the store in one iteration of the innermost loop of the kind.
double inside_of(F f, LoopKind kind) {
  for (size_t i = f.levels.size(); i-- > 0;) {
    if (f.is(i, kind)) return f.inside[i + 1];
  }
  return 0.0;
}

struct LoopColumn {
  const char* name;
  const char* unit;
  const char* meaning;
  double (*value)(F, LoopKind);
};
const LoopColumn kLoopColumns[] = {
    {"loops", "loops", "{} loops around the store", &loops_of},
    {"product", "iterations", "of all {} loops together", [](F f, LoopKind kind) { return f.product(kind); }},
    {"spatial", "iterations", "of the {} loops that move the store",
     [](F f, LoopKind kind) { return product_of(f, kind, true); }},
    {"reduction", "iterations", "of the {} loops that do not move the store: reductions and repetitions",
     [](F f, LoopKind kind) { return product_of(f, kind, false); }},
    {"innermost", "iterations", "of the innermost {} loop; 0 without one", &extent_of_innermost},
    {"inside", "executions", "of the store in an iteration of the innermost {} loop; 0 without one",
     &inside_of},
};
struct LoopGroup {
  LoopKind kind;
  const char* name;
};
const LoopGroup kLoopGroups[] = {
    {LoopKind::Unrolled, "unrolled"}, {LoopKind::Parallel, "parallel"}, {LoopKind::Serial, "serial"}};

/// Iterations of the n-th loop that is not unrolled, from the innermost; 0 if there is none.
template <int kNth>
double inner_trips(F f) {
  int nth = 0;
  for (size_t i = f.levels.size(); i-- > 0;) {
    if (!f.is(i, LoopKind::Unrolled) && nth++ == kNth) return f.levels[i].trips;
  }
  return 0.0;
}
double innermost_is_reduction(F f) {
  for (size_t i = f.levels.size(); i-- > 0;) {
    if (!f.is(i, LoopKind::Unrolled)) return f.spatial(i) ? 0.0 : 1.0;
  }
  return 0.0;
}
double product_where(F f, bool spatial) {
  double trips = 1.0;
  for (size_t i = 0; i < f.levels.size(); ++i) trips *= f.spatial(i) == spatial ? f.levels[i].trips : 1.0;
  return trips;
}
double intrinsic_product(F f) {
  double trips = 0.0;
  for (const Level& level : f.levels) {
    if (level.intrinsic) trips = std::max(trips, 1.0) * level.trips;
  }
  return trips;
}
/// Parallel iterations on the busiest core, times cores, over all iterations: 1 when distributed evenly.
double imbalance(F f) {
  const double iterations = f.product(LoopKind::Parallel);
  const double cores = f.machine.cores;
  return cores > 0.0 && iterations > 0.0 ? std::ceil(iterations / cores) * cores / iterations : 0.0;
}

const Column kNest[] = {
    {"bound_loops", "loops", "around the store that are axes of a thread grid",
     [](F f) { return loops_of(f, LoopKind::Bound); }},
    {"bound_product", "iterations", "of those together", [](F f) { return f.product(LoopKind::Bound); }},
    {"depth", "loops", "around the store", [](F f) { return static_cast<double>(f.levels.size()); }},
    {"executions", "executions", "of the store: the product of all loops around it",
     [](F f) { return f.executions; }},
    {"executions_busiest_core", "executions",
     "executions / parallel_product * ceil(parallel_product / cores)",
     [](F f) { return f.executions * imbalance(f) / std::max(f.machine.cores, 1.0); }},
    {"parallel_imbalance", "1", "ceil(parallel_product / cores) * cores / parallel_product", &imbalance},
    {"launches", "launches",
     "of the outermost parallel loop around the store; 0 for all but the first store in that loop",
     [](F f) { return f.launches; }},
    {"spatial_product", "iterations", "of all loops that move the store",
     [](F f) { return product_where(f, true); }},
    {"reduction_product", "iterations", "of all loops that do not",
     [](F f) { return product_where(f, false); }},
    {"conditions", "conditions", "(If) around the store", [](F f) { return f.conditions; }},
    {"inner_trips_1", "iterations", "of the innermost loop that is not unrolled; 0 without one",
     &inner_trips<0>},
    {"inner_trips_2", "iterations", "of the next such loop outwards", &inner_trips<1>},
    {"inner_trips_3", "iterations", "of the one after that", &inner_trips<2>},
    {"inner_is_reduction", "1", "1 when the innermost loop that is not unrolled does not move the store",
     &innermost_is_reduction},
    {"intrinsic_product", "executions", "of the store in one call of a tensor intrinsic; 0 outside of one",
     &intrinsic_product},
    {"accumulates", "1", "1 when the store's buffer is loaded in the statement",
     [](F f) { return f.accumulates ? 1.0 : 0.0; }},
    {"accumulates_in_registers", "1",
     "1 when what it accumulates is in registers while the loop around the unrolled ones continues",
     [](F f) { return f.accumulates_in_registers ? 1.0 : 0.0; }},
    {"chains", "accumulators", "vectors of one execution * spatial iterations of unrolled loops",
     [](F f) { return f.chains; }},
    {"chain_length", "executions", "that wait for each other: executions * vectors of one / chains",
     [](F f) {
       return f.executions * std::max(1.0, f.chains / product_of(f, LoopKind::Unrolled, true)) / f.chains;
     }},
    {"register_share", "1", "chains / vector_registers",
     [](F f) { return f.machine.vector_registers > 0.0 ? f.chains / f.machine.vector_registers : 0.0; }},
};

// ---- Accesses ----

struct AccessColumn {
  const char* name;
  const char* unit;
  const char* meaning;
  double (*value)(F, A);
};

double innermost_stride(F /*f*/, A a) {
  for (size_t i = a.motion.size(); i-- > 0;) {
    if (a.motion[i].moves) return a.motion[i].stride;
  }
  return 0.0;
}

const AccessColumn kAccess[] = {
    {"reads", "1", "1 when the statement loads from it", [](F, A a) { return a.reads ? 1.0 : 0.0; }},
    {"writes", "1", "1 when it stores to it", [](F, A a) { return a.writes ? 1.0 : 0.0; }},
    {"in_register", "1", "1 when it is in registers; then nothing is counted as memory",
     [](F, A a) { return a.in_register ? 1.0 : 0.0; }},
    {"element_bytes", "bytes", "of an element", [](F, A a) { return a.element_bytes; }},
    {"bytes", "bytes", "loaded and stored by all executions, repeatedly counted",
     [](F, A a) { return a.elements * a.element_bytes; }},
    {"unique_bytes", "bytes", "of distinct elements", [](F, A a) { return a.bytes_inside.front(); }},
    {"unique_lines", "cache lines", "that those elements lie on",
     [](F, A a) { return a.lines_inside.front(); }},
    {"instructions", "instructions",
     "vector loads and stores; what iterations of unrolled loops share, and what loops leave in a register, "
     "once",
     [](F, A a) { return a.instructions; }},
    {"stride", "elements", "by which the innermost loop that moves the access does; 0: irregularly",
     &innermost_stride},
    {"contiguous", "1", "1 when the lanes of a vector are neighbours in memory",
     [](F, A a) { return a.contiguous ? 1.0 : 0.0; }},
    {"reuse_by_loop", "1", "1 when a loop does not move the access, so that it is touched again",
     [](F, A a) { return a.reuse_level >= 0 ? 1.0 : 0.0; }},
    {"reuse_by_statement", "1", "1 when no loop does, and another statement touches the buffer",
     [](F, A a) { return a.reuse_by_statement ? 1.0 : 0.0; }},
    {"reuse_iterations", "executions", "until the innermost such loop comes back to an element",
     [](F, A a) { return a.reuse_iterations; }},
    {"reuse_bytes", "bytes", "of all buffers that the statement touches meanwhile",
     [](F, A a) { return a.reuse_bytes; }},
    {"reuse_count", "iterations", "of that loop", [](F, A a) { return a.reuse_count; }},
    {"l1_traffic", "bytes",
     "from beyond a cache of l1_bytes: footprint of the loops that fit it * how often they are entered anew; "
     "a walk by a step that shares a divisor with l1_way_bytes takes the sets between, too; without what an "
     "earlier statement left there",
     [](F, A a) { return a.l1_traffic; }},
    {"l2_traffic", "bytes", "the same of l2_bytes", [](F, A a) { return a.l2_traffic; }},
};
constexpr size_t kBuffers = 5;

// ---- The rest ----

double total(F f, double Access::* what) {
  double sum = 0.0;
  for (const Access& access : f.accesses) sum += access.*what;
  return sum;
}
const Column kTotals[] = {
    {"buffers", "buffers", "that the statement touches",
     [](F f) { return static_cast<double>(f.accesses.size()); }},
    {"memory_instructions", "instructions", "of all buffers",
     [](F f) { return total(f, &Access::instructions); }},
    {"memory_l1_traffic", "bytes", "of all buffers", [](F f) { return total(f, &Access::l1_traffic); }},
    {"memory_l2_traffic", "bytes", "of all buffers", [](F f) { return total(f, &Access::l2_traffic); }},
    {"memory_l3_traffic", "bytes", "of all buffers, from beyond a cache of l3_bytes",
     [](F f) { return total(f, &Access::l3_traffic); }},
    {"memory_l1_runs", "runs",
     "of neighbouring bytes that memory_l1_traffic comes in; one ends with the loops that fit the cache",
     [](F f) { return total(f, &Access::l1_runs); }},
    {"memory_l2_runs", "runs", "those of memory_l2_traffic", [](F f) { return total(f, &Access::l2_runs); }},
    {"memory_l3_runs", "runs", "those of memory_l3_traffic", [](F f) { return total(f, &Access::l3_runs); }},
    {"memory_other_core_traffic", "bytes",
     "that an earlier statement wrote last, on another core than the one that touches them now",
     [](F f) { return total(f, &Access::other_core_traffic); }},
    {"allocated_bytes", "bytes", "of the buffer written; 0 for an argument of the program",
     [](F f) { return f.allocated_bytes; }},
    {"allocations", "allocations",
     "how often it is made anew: the product of the loops around its allocation",
     [](F f) { return f.allocations; }},
    {"cores", "cores", "of the machine", [](F f) { return f.machine.cores; }},
    {"vector_bits", "bits", "of the machine's widest vector", [](F f) { return f.machine.vector_bits; }},
    {"vector_registers", "registers", "of that width", [](F f) { return f.machine.vector_registers; }},
    {"fma_per_cycle", "instructions", "vector multiply-adds that a core starts each cycle",
     [](F f) { return f.machine.fma_per_cycle; }},
    {"l1_bytes", "bytes", "first data cache of a core", [](F f) { return f.machine.l1_bytes; }},
    {"l2_bytes", "bytes", "second data cache of a core", [](F f) { return f.machine.l2_bytes; }},
    {"l3_bytes", "bytes", "last cache, shared", [](F f) { return f.machine.l3_bytes; }},
    {"l1_way_bytes", "bytes", "of one way of the first data cache",
     [](F f) { return f.machine.l1_way_bytes; }},
    {"l2_way_bytes", "bytes", "of one way of the second", [](F f) { return f.machine.l2_way_bytes; }},
    {"max_threads_per_block", "threads", "of a target with a thread grid",
     [](F f) { return f.machine.max_threads_per_block; }},
    {"max_shared_bytes", "bytes", "that a block of threads may share",
     [](F f) { return f.machine.max_shared_bytes; }},
};

std::vector<FeatureColumn> make_columns() {
  std::vector<FeatureColumn> columns;
  const auto add = [&](const auto& group) {
    for (const auto& column : group) columns.push_back({column.name, column.unit, column.meaning});
  };
  add(kArithmetic);
  add(kVector);
  for (const LoopGroup& group : kLoopGroups) {
    for (const LoopColumn& column : kLoopColumns) {
      columns.push_back({fmt::format("{}_{}", group.name, column.name), column.unit,
                         fmt::format(fmt::runtime(column.meaning), group.name)});
    }
  }
  add(kNest);
  for (size_t buffer = 0; buffer < kBuffers; ++buffer) {
    for (const AccessColumn& column : kAccess)
      columns.push_back({fmt::format("buffer{}_{}", buffer, column.name), column.unit, column.meaning});
  }
  for (size_t point = 0; point < StoreFacts::kCurvePoints; ++point) {
    columns.push_back({fmt::format("intensity_{}", point), "operations/byte",
                       fmt::format("arithmetic / distinct bytes in the innermost loops that make "
                                   "executions^({}/{}) executions, between loops interpolated",
                                   point, StoreFacts::kCurvePoints - 1)});
  }
  add(kTotals);
  return columns;
}

}  // namespace

void append_row(const StoreFacts& facts, const std::function<void(double)>& append) {
  for (const Column& column : kArithmetic) append(column.value(facts));
  for (const Column& column : kVector) append(column.value(facts));
  for (const LoopGroup& group : kLoopGroups) {
    for (const LoopColumn& column : kLoopColumns) append(column.value(facts, group.kind));
  }
  for (const Column& column : kNest) append(column.value(facts));
  for (size_t buffer = 0; buffer < kBuffers; ++buffer) {
    const bool there = buffer < facts.accesses.size();
    for (const AccessColumn& column : kAccess)
      append(there ? column.value(facts, facts.accesses[buffer]) : 0.0);
  }
  for (const double intensity : facts.curve) append(intensity);
  for (const Column& column : kTotals) append(column.value(facts));
}

}  // namespace tunesmith::features

namespace tunesmith {

const std::vector<FeatureColumn>& feature_columns() {
  static const std::vector<FeatureColumn> columns = features::make_columns();
  return columns;
}

std::vector<FeatureColumn> feature_columns_with(std::span<const FeatureColumn> added) {
  std::vector<FeatureColumn> all = feature_columns();
  for (const FeatureColumn& column : added) {
    if (const std::string fault = column_fault(column, all); !fault.empty())
      throw UserError("[P27] a column that an extension adds: " + fault);
    all.push_back(column);
  }
  return all;
}

size_t feature_index(std::string_view name) {
  const auto found = std::ranges::find(feature_columns(), name, &FeatureColumn::name);
  check_invariant(found != feature_columns().end(), "a feature is asked for by a name that it has");
  return static_cast<size_t>(found - feature_columns().begin());
}

}  // namespace tunesmith
