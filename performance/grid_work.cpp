#include "tunesmith/performance/grid_work.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "lockstep_threads.h"
#include "tunesmith/affine/simplify.h"
#include "tunesmith/affine/value_at.h"
#include "tunesmith/analysis/barriers.h"
#include "tunesmith/grid/launches.h"
#include "tunesmith/intrinsics/tensor_intrinsic.h"
#include "tunesmith/ir/annotation_keys.h"
#include "tunesmith/ir/tree_surgery.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith {
namespace {

/// Instructions of a mathematical function, and of a loop iteration: counting, comparing and jumping.
constexpr double kCall = 16.0;
constexpr double kIteration = 2.0;
/// Instructions of a division of indices by a constant.
constexpr double kIndexDivision = 4.0;
/// Registers for addresses, counters and vectors in flight.
constexpr double kOwnRegisters = 24.0;

bool has_producer(const Loop& loop) { return handover_of(loop) != nullptr; }

/// Counts one launch.
class Counter {
 public:
  explicit Counter(const LockstepMachine& machine) : machine_(machine), execution_(*machine.execution) {}

  GridWork count(const Stmt& launch) {
    run(launch, 1.0);
    for (const auto& [buffer, bytes] : touched_) work_.touched_bytes += bytes;
    work_.registers = kOwnRegisters + max_kept_ / 4.0;
    return work_;
  }

 private:
  /// `times`: the number of executions of the statement by all threads together.
  void run(const Stmt& stmt, double times) {
    switch (stmt.kind) {
      case StmtKind::Loop:
        return loop(static_cast<const Loop&>(stmt), times);
      case StmtKind::If:
        return branch(static_cast<const If&>(stmt), times);
      case StmtKind::Allocate:
        return allocate(static_cast<const Allocate&>(stmt), times);
      case StmtKind::Store:
        return store(static_cast<const Store&>(stmt), times);
      case StmtKind::Barrier:
        work_.barriers += times / (work_.blocks * work_.threads);
        return;
      case StmtKind::AsyncWait:
        work_.instructions += times;
        return;
      case StmtKind::Seq:
      case StmtKind::Block:
      case StmtKind::AsyncGroup:
      case StmtKind::Handover:  // the two sides wait for one another by versions, and seldom
        visit_children(stmt, [&](const Stmt& child) { run(child, times); });
    }
  }

  /// The number of threads that execute a call of the level together, or share a buffer of the level.
  double group_of(std::string_view level) const {
    const ExecutionLevel* found = execution_.find_level(level);
    return found == nullptr || found->group == 0 ? 1.0 : static_cast<double>(found->group);
  }

  void call(const Loop& loop, double times) {
    const GridWork before = work_;
    count_call(loop, times);
    if (loop_above(loop, has_producer) == nullptr) return;
    work_.bulk_sectors += work_.sectors - before.sectors;
    work_.bulk_wavefronts += work_.wavefronts - before.wavefronts;
    work_.bulk_unit_cycles += work_.unit_cycles - before.unit_cycles;
  }

  void count_call(const Loop& loop, double times) {
    const TensorCall call = tensor_call(loop);
    // Of threads in lockstep at a bulk copy, one issues it.
    const double callers =
        call.intrinsic->bulk_copy ? static_cast<double>(machine_.width) : group_of(call.intrinsic->level);
    const double calls = times / callers;
    work_.instructions += times;
    work_.unit_cycles += calls * call.intrinsic->cycles;
    for (size_t i = 0; i < call.operands.size(); ++i) {
      const TensorOperand& declared = call.intrinsic->operands[i];
      const TensorCall::Operand& operand = call.operands[i];
      const size_t depth = depth_of(operand.buffer);
      if (depth > execution_.first_synchronising()) continue;  // in registers
      const auto bytes = static_cast<double>(declared.buffer->bytes());
      if (depth == 0) {
        work_.sectors += calls * bytes / static_cast<double>(machine_.sector_bytes);
        touch(operand.buffer, static_cast<double>(operand.buffer->bytes()));
      } else if (const MemoryScope* scope = execution_.find_scope(operand.buffer->scope)) {
        const auto wavefront = static_cast<double>(scope->banks * scope->bank_bytes);
        work_.wavefronts += calls * bytes / wavefront * conflicts(declared, operand, *scope);
      }
    }
  }

  /// The number of bank accesses for as many rows of the widest access as fit all banks at once.
  double conflicts(const TensorOperand& declared, const TensorCall::Operand& operand,
                   const MemoryScope& scope) const {
    const size_t free = declared.free_dimension();
    // Rows that must be swizzled have the unit's layout; a free stride is that of others.
    if (free == operand.strides.size() || declared.swizzled == TensorOperand::Swizzled::Always) return 1.0;
    const int64_t pieces = scope.banks * scope.bank_bytes / machine_.access_bytes;
    std::map<int64_t, int> rows;
    int most = 0;
    for (int64_t row = 0; row < pieces; ++row) {
      const int64_t at =
          operand.buffer->swizzle.place_of(row * operand.strides[free]) * operand.buffer->dtype.bytes();
      most = std::max(most, ++rows[at / machine_.access_bytes % pieces]);
    }
    return most;
  }

  void loop(const Loop& loop, double times) {
    if (loop.annotations.contains(kTensorIntrinsic)) return call(loop, times);
    const double trips =
        std::max<double>(0.0, static_cast<double>(Analyzer::at(loop).bounds(loop.extent).max));
    if (loop.loop_kind == LoopKind::Bound) {
      const auto axis = execution_.find_axis(loop.thread);
      const bool apart = axis && axis->level < execution_.first_synchronising();
      (apart ? work_.blocks : work_.threads) *= trips;
    } else if (loop.loop_kind == LoopKind::Serial) {
      work_.instructions += kIteration * times * trips;
    }
    if (fetches_anew(loop)) count_fetches(loop, times * trips);
    run(*loop.body(), times * trips);
  }

  /// Do the threads synchronise in each iteration to use data that they loaded from shared memory?
  bool fetches_anew(const Loop& loop) const {
    if (loop.loop_kind != LoopKind::Serial && loop.loop_kind != LoopKind::Unrolled) return false;
    const Seq* body = loop.body()->as<Seq>();
    for (const Stmt* at = loop.body(); body == nullptr && at->kind == StmtKind::Allocate;) {
      at = at->as<Allocate>()->body();
      body = at->as<Seq>();
    }
    if (body == nullptr) return false;
    const bool waits = has_producer(loop) || std::ranges::any_of(body->children(), [](const StmtPtr& child) {
                         return child->kind == StmtKind::Barrier;
                       });
    bool fetches = false;
    walk_accesses(loop, [&](const Stmt& stmt, const AccessSite& access) {
      const Store* store = stmt.as<Store>();
      const size_t to = store == nullptr ? 0 : depth_of(store->buffer);
      fetches = fetches || (access.load != nullptr && depth_of(access.buffer) == 0 && to > 0 &&
                            to <= execution_.first_synchronising());
    });
    return waits && fetches;
  }

  void count_fetches(const Loop& loop, double times) {
    const auto pipelined = loop.annotations.find(kSoftwarePipeline);
    double ahead = pipelined == loop.annotations.end()
                       ? 0.0
                       : static_cast<double>(std::get<int64_t>(pipelined->second)) - 1.0;
    // Calls behind a producer run ahead, and their input is released one step later.
    if (has_producer(loop)) ahead -= 1.0;
    const double fetches = times / (work_.blocks * work_.threads);
    if (fetches <= 0.0) return;
    work_.ahead = (work_.ahead * work_.fetches + ahead * fetches) / (work_.fetches + fetches);
    work_.fetches += fetches;
  }

  void branch(const If& branch, double times) {
    work_.instructions += times;
    const double share = share_of(branch);
    run(*branch.then_case(), times * share);
    if (branch.else_case() != nullptr) run(*branch.else_case(), times * (1.0 - share));
  }

  /// The share of lockstep groups with a thread that takes the branch; all if other conditions decide.
  double share_of(const If& branch) const {
    const LockstepThreads threads(branch, execution_);
    int64_t taken = 0;
    int64_t groups = 0;
    for (int64_t first = 0; first < threads.count(); first += machine_.width, ++groups) {
      bool any = false;
      for (int64_t t = first; t < std::min(first + machine_.width, threads.count()) && !any; ++t) {
        const std::optional<int64_t> holds = value_at(threads.point_of(t), branch.condition);
        if (!holds) return 1.0;
        any = *holds != 0;
      }
      taken += any ? 1 : 0;
    }
    return static_cast<double>(taken) / static_cast<double>(groups);
  }

  void allocate(const Allocate& allocate, double times) {
    const MemoryScope* scope = execution_.find_scope(allocate.buffer->scope);
    const double members = scope == nullptr ? 1.0 : group_of(scope->owner);
    const double bytes = static_cast<double>(allocate.buffer->bytes()) / members;
    const size_t depth = depth_of(allocate.buffer);
    const bool own = depth > execution_.first_synchronising();
    if (own) {
      kept_ += bytes;
      max_kept_ = std::max(max_kept_, kept_);
    } else if (depth > 0 && allocate.offset) {
      work_.block_bytes = std::max(work_.block_bytes, static_cast<double>(*allocate.offset) + bytes);
    } else if (depth > 0) {
      work_.block_bytes += bytes;
    }
    run(*allocate.body(), times);
    if (own) kept_ -= bytes;
  }

  void store(const Store& store, double times) {
    walk_expr(store.value, [&](const Expr& part) {
      // A broadcast is no instruction, and a product is fused into its sum.
      if (part.dtype().is_index() || part.dtype().is_bool() || part.args().empty()) return;
      if (part.is(ExprKind::Load) || part.is(ExprKind::Broadcast) || part.is(ExprKind::Mul)) return;
      const double operations = times * part.dtype().lanes * (part.is(ExprKind::Call) ? kCall : 1.0);
      work_.arithmetic += operations;
      work_.instructions += operations;
    });
    visit_accesses(store, [&](const AccessSite& access) { count_access(store, access, times); });
  }

  void count_access(const Store& store, const AccessSite& access, double times) {
    const size_t depth = depth_of(access.buffer);
    if (depth > execution_.first_synchronising()) return;  // in registers
    const double made = times / repeated(store, access);
    // If an address is loaded from memory, each thread accesses a piece of its own.
    LockstepAccess group = lockstep_access(store, access, machine_).value_or(LockstepAccess{1, 0, 1, 1, 1});
    if (group.threads == 0.0) return;
    double divisions = 0.0;
    walk_expr(access.indices[0], [&](const Expr& part) {
      if ((part.is(ExprKind::FloorDiv) || part.is(ExprKind::FloorMod)) && !is_stage(store, part))
        divisions += 1.0;
    });
    work_.instructions += made * (group.instructions + kIndexDivision * divisions);
    if (depth > 0) {
      work_.wavefronts += made * group.wavefronts / group.threads;
      return;
    }
    work_.sectors += made * group.sectors / group.threads;
    const Interval range = Analyzer::at(store).bounds(access.indices[0]);
    const double span =
        static_cast<double>(range.max - range.min + 1) * static_cast<double>(access.buffer->dtype.bytes());
    touch(access.buffer, std::min(span, static_cast<double>(access.buffer->bytes())));
  }

  /// Is it the current version of a pipelined buffer, which is counted and not computed by division?
  static bool is_stage(const Store& store, const Expr& remainder) {
    const std::vector<Var> vars = vars_of(remainder);
    return vars.size() == 1 && loop_above(store, [&](const Loop& loop) {
                                 return loop.var == vars.front() &&
                                        loop.annotations.contains(kSoftwarePipeline);
                               }) != nullptr;
  }

  void touch(const Buffer& buffer, double bytes) {
    for (auto& [known, touched] : touched_) {
      if (known == buffer) return void(touched = std::max(touched, bytes));
    }
    touched_.emplace_back(buffer, bytes);
  }

  /// How often unrolled loops around the store repeat the same load, which a compiler removes.
  static double repeated(const Store& store, const AccessSite& access) {
    double times = 1.0;
    if (access.load == nullptr) return times;
    for (const Stmt* at = store.parent; at != nullptr; at = at->parent) {
      if (at->kind == StmtKind::Seq || at->kind == StmtKind::If) continue;
      const auto* loop = at->as<Loop>();
      if (loop == nullptr || loop->loop_kind != LoopKind::Unrolled) break;
      const bool written = find_first<Store>(*loop, [&](const Store& other) {
                             return other.buffer == access.buffer;
                           }) != nullptr;
      if (written || has_barrier(*loop)) break;
      if (!uses_var(access.indices[0], loop->var)) times *= static_cast<double>(loop->const_extent());
    }
    return times;
  }

  size_t depth_of(const Buffer& buffer) const {
    const MemoryScope* scope = execution_.find_scope(buffer->scope);
    return scope == nullptr ? 0 : execution_.depth_of(*scope);
  }

  const LockstepMachine& machine_;
  const ExecutionModel& execution_;
  GridWork work_;
  std::vector<std::pair<Buffer, double>> touched_;  // in text order
  double kept_ = 0.0;                               // bytes of a thread's buffers around the statement
  double max_kept_ = 0.0;
};

}  // namespace

std::vector<GridWork> grid_work(const Program& lowered, const LockstepMachine& machine) {
  std::vector<GridWork> work;
  for (const Stmt* launch : launches_of(lowered, *machine.execution))
    work.push_back(Counter(machine).count(*launch));
  return work;
}

std::optional<LockstepMachine> lockstep_machine(const ExecutionModel& execution, const DeviceModel& device) {
  const std::optional<double> width = device.find("warp_size");
  if (!width) return std::nullopt;
  return LockstepMachine{&execution, std::llround(*width), std::llround(device.get("sector_bytes")),
                         std::llround(device.get("access_bytes"))};
}

}  // namespace tunesmith
