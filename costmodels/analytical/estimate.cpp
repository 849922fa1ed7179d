#include "estimate.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include <tunesmith/affine/simplify.h>
#include <tunesmith/ir/regions.h>
#include <tunesmith/ir/visit.h>

namespace tunesmith::analytical {
namespace {

/// A loop around the statement that is looked at.
struct Level {
  const Loop* loop = nullptr;
  double trips = 1;
  bool unrolled = false;
};

/// How one iteration more of a loop moves an access.
struct Motion {
  bool moves = false;
  double stride = 0;  // in elements; 0 where the loop enters by a division or a remainder
};

/// A load or store of memory in one body.
struct MemoryAccess {
  std::vector<Motion> motion;  // by the loops around, outermost first
  double element_bytes = 4;
  double lanes = 1;
  bool contiguous = true;  // one vector access, and not a gather
};

/// The most iterations, where the loop's range depends on others, as that of a tightened loop does.
double trip_count(const Loop& loop) {
  int64_t extent = 1;
  if (as_const_int(loop.extent, &extent)) return static_cast<double>(extent);
  const Interval range = Analyzer::at(loop).bounds(loop.extent);
  return range.max < Interval::kMax ? static_cast<double>(std::max<int64_t>(range.max, 0)) : 1.0;
}

class Estimator {
 public:
  explicit Estimator(const Machine& machine) : machine_(machine) {}

  double run(const Stmt& stmt) {
    if (const Loop* loop = stmt.as<Loop>()) return run_loop(*loop);
    if (const Store* store = stmt.as<Store>()) return run_store(*store);
    double cycles = 0.0;
    visit_children(stmt, [&](const Stmt& child) { cycles += run(child); });
    return cycles;
  }

 private:
  double run_loop(const Loop& loop) {
    const double trips = trip_count(loop);
    levels_.push_back({&loop, trips, loop.loop_kind == LoopKind::Unrolled});
    double cycles = run(*loop.body());
    levels_.pop_back();
    if (loop.loop_kind == LoopKind::Parallel) {
      const double share = std::ceil(trips / machine_.cores) / trips;  // of the work, on the busiest core
      return cycles * share + kHandOver;
    }
    return cycles;
  }

  /// Cycles of all executions of the store under the loops around it.
  double run_store(const Store& store) {
    accesses_.clear();
    double arithmetic = count_arithmetic(store.value);
    const bool in_register = store.buffer->scope == kScopeRegister;
    note_loads(store.value);
    const double vectors = vector_count(store.indices[0].dtype().lanes, store.buffer->dtype);
    double executions = 1.0;
    for (const Level& level : levels_) executions *= level.trips;

    double issue = executions * arithmetic * vectors / machine_.fma_per_cycle;
    double loads = 0.0;
    for (const MemoryAccess& access : accesses_) {
      const double operations =
          access.contiguous ? std::max(1.0, access.lanes * access.element_bytes * 8 / machine_.vector_bits)
                            : access.lanes;
      loads += distinct_executions(access) * operations / machine_.loads_per_cycle;
    }
    if (!in_register) loads += executions * vectors;
    const MemoryAccess written = describe(store.indices[0], store.buffer->dtype);
    double cycles = std::max(issue, loads) + 0.25 * std::min(issue, loads);
    cycles = std::max(cycles, latency_bound(store, written, executions, vectors, in_register));
    cycles += serial_iterations();
    if (!in_register) accesses_.push_back(written);
    return cycles + traffic(machine_.l1_bytes, kL1WayBytes, machine_.l2_bytes_per_cycle) +
           traffic(machine_.l2_bytes, kL2WayBytes, machine_.memory_bytes_per_cycle);
  }

  double vector_count(int lanes, DType type) const {
    return std::max(1.0, lanes * double(type.bits) / machine_.vector_bits);
  }

  /// Vector operations of one execution, a product that feeds a sum counted with it.
  static double count_arithmetic(const Expr& value) {
    double count = 0.0;
    walk_expr(value, [&](const Expr& part) {
      switch (part.kind()) {
        case ExprKind::Add:
        case ExprKind::Sub:
          count += part.dtype().is_float() ? 1.0 : 0.25;
          if (part.dtype().is_float() && (part.arg(0).is(ExprKind::Mul) || part.arg(1).is(ExprKind::Mul)))
            count -= 1.0;
          break;
        case ExprKind::Mul:
        case ExprKind::Min:
        case ExprKind::Max:
          count += part.dtype().is_float() ? 1.0 : 0.25;
          break;
        case ExprKind::Div:
          count += part.arg(1).is(ExprKind::Broadcast) ? 1.0 : 8.0;
          break;
        case ExprKind::Select:
          count += 2.0;
          break;
        case ExprKind::Call:
          count += 12.0;
          break;
        default:
          break;
      }
    });
    return count;
  }

  void note_loads(const Expr& value) {
    walk_expr(value, [&](const Expr& part) {
      const LoadNode* access = part.as<LoadNode>();
      if (access == nullptr || access->buffer->scope == kScopeRegister) return;
      accesses_.push_back(describe(access->indices()[0], access->buffer->dtype));
    });
  }

  MemoryAccess describe(const Expr& index, DType type) const {
    const bool is_ramp = index.is(ExprKind::Ramp);
    const LinearForm form = Analyzer().linear(is_ramp ? index.arg(0) : index);
    MemoryAccess access;
    access.element_bytes = static_cast<double>(type.bytes());
    access.lanes = index.dtype().lanes;
    access.contiguous = !index.dtype().is_vector() || (is_ramp && is_const_int(index.arg(1), 1));
    for (const Level& level : levels_) {
      const Var& var = level.loop->var;
      const int64_t stride = form.coefficient_of(var);
      const bool moves =
          stride != 0 || std::any_of(form.terms.begin(), form.terms.end(),
                                     [&](const LinearForm::Term& term) { return uses_var(term.atom, var); });
      access.motion.push_back({moves, static_cast<double>(stride)});
    }
    return access;
  }

  /// How often the address is really loaded: iterations of unrolled loops that do not move it share one load,
  /// and loops inside the innermost one that moves it leave it in a register.
  double distinct_executions(const MemoryAccess& access) const {
    size_t innermost = levels_.size();
    while (innermost > 0 && !access.motion[innermost - 1].moves) --innermost;
    size_t straight = levels_.size();
    while (straight > 0 && levels_[straight - 1].unrolled) --straight;
    double count = 1.0;
    for (size_t i = 0; i < innermost; ++i) {
      if (i >= straight && !access.motion[i].moves) continue;
      count *= levels_[i].trips;
    }
    return count;
  }

  /// Accumulations into one element follow each other; independent ones of the unrolled tile overlap.
  double latency_bound(const Store& store, const MemoryAccess& written, double executions, double vectors,
                       bool in_register) const {
    if (!loads_from(store.value, store.buffer)) return 0.0;
    double independent = vectors;
    for (size_t i = 0; i < levels_.size(); ++i) {
      if (levels_[i].unrolled && written.motion[i].moves) independent *= levels_[i].trips;
    }
    const double latency = in_register ? machine_.fma_latency : kMemoryLatency;
    double bound = executions * vectors * latency / independent;
    if (in_register && independent > machine_.registers - 2) bound *= 3.0;
    return bound;
  }

  double serial_iterations() const {
    double total = 0.0;
    double count = 1.0;
    for (const Level& level : levels_) {
      count *= level.trips;
      if (!level.unrolled) total = count;
    }
    return total;
  }

  /// Bytes of a cache that an access takes in the loops from `from` inwards: of whole cache lines, and of the
  /// sets that a walk by a large stride leaves out, since nothing of the walk can use them. `way_bytes`: the
  /// distance of addresses that fall on one set.
  double footprint(const MemoryAccess& access, size_t from, double way_bytes) const {
    double elements = access.lanes;
    double run = access.contiguous ? access.lanes : 1.0;
    for (size_t i = from; i < levels_.size(); ++i) {
      if (access.motion[i].moves) elements *= levels_[i].trips;
    }
    // The loops by which the run grows longer, and the common step of the others; 0 is a step not known.
    auto step = static_cast<int64_t>(way_bytes);
    for (size_t i = levels_.size(); i-- > from;) {
      if (!access.motion[i].moves || levels_[i].trips == 1) continue;
      if (access.motion[i].stride == run) {
        run *= levels_[i].trips;
      } else {
        const auto stride = static_cast<int64_t>(access.motion[i].stride * access.element_bytes);
        step = stride == 0 ? 1 : std::gcd(step, stride);
      }
    }
    const double run_bytes = std::max(run * access.element_bytes, kLineBytes);
    const double runs = elements / run;
    return runs * (runs > 1 ? std::max(run_bytes, static_cast<double>(step)) : run_bytes);
  }

  /// Cycles to bring in what does not stay in a cache of `capacity`.
  double traffic(double capacity, double way_bytes, double bytes_per_cycle) const {
    size_t fits = levels_.size();
    for (size_t from = levels_.size() + 1; from-- > 0;) {
      double total = 0.0;
      for (const MemoryAccess& access : accesses_) total += footprint(access, from, way_bytes);
      if (total > capacity) break;
      fits = from;
    }
    double bytes = 0.0;
    for (const MemoryAccess& access : accesses_) {
      double repeats = 1.0;
      // Loops outside that do not move the access find it again only if the loops between left it in the
      // cache.
      bool moved = false;
      for (size_t i = fits; i-- > 0;) {
        moved = moved || access.motion[i].moves;
        if (moved) repeats *= levels_[i].trips;
      }
      bytes += footprint(access, fits, kLineBytes) * repeats;
    }
    return bytes / bytes_per_cycle;
  }

  static constexpr double kLineBytes = 64.0;
  static constexpr double kL1WayBytes = 4096.0;   // a page: the first level is looked up while the page is
  static constexpr double kL2WayBytes = 65536.0;  // a megabyte of 16 ways
  static constexpr double kMemoryLatency = 10.0;  // a store and the load that follows it
  static constexpr double kHandOver = 2000.0;     // cycles to give work to the other cores

  const Machine& machine_;
  std::vector<Level> levels_;
  std::vector<MemoryAccess> accesses_;
};

}  // namespace

Machine machine_from(const DeviceModel& device) {
  Machine machine;
  machine.cores = device.get_or("cores", machine.cores);
  machine.vector_bits = device.get_or("vector_bits", machine.vector_bits);
  machine.registers = device.get_or("vector_registers", machine.registers);
  machine.fma_per_cycle = device.get_or("fma_per_cycle", machine.fma_per_cycle);
  machine.l1_bytes = device.get_or("l1_bytes", machine.l1_bytes);
  machine.l2_bytes = device.get_or("l2_bytes", machine.l2_bytes);
  return machine;
}

double estimate_cycles(const Program& lowered, const Machine& machine) {
  return std::max(1.0, Estimator(machine).run(lowered.root()));
}

}  // namespace tunesmith::analytical
