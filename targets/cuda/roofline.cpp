#include "roofline.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include "execution.h"
#include "kernel_text.h"
#include "launch.h"
#include "tunesmith/affine/simplify.h"
#include "tunesmith/analysis/lockstep_access.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith::cuda {
namespace {

constexpr int64_t kWarp = 32;
constexpr int64_t kSectorBytes = 32;
constexpr double kLaunchSeconds = 3e-6;
constexpr double kBarrierCycles = 30;
/// Warps that a multiprocessor must hold for its units to be busy all the time, roughly.
constexpr double kBusyWarps = 16;
/// What a thread takes, where no compiler has said.
constexpr unsigned kRegisters = 64;

/// Of all threads of a launch together.
struct Work {
  double instructions = 0;  // arithmetic, one a thread
  double global_sectors = 0;
  double shared_wavefronts = 0;
  double barriers = 0;  // of one block
  size_t shared_allocated = 0;
  std::map<const BufferNode*, double> touched;  // bytes of global buffers
};

class Counter {
 public:
  Counter(Work& work, Launch& launch, const ExecutionModel& execution)
      : work_(work), launch_(launch), execution_(execution) {}

  /// `times`: how often all threads together run the statement.
  void run(const Stmt& stmt, double times) {
    switch (stmt.kind) {
      case StmtKind::Loop:
        return loop(static_cast<const Loop&>(stmt), times);
      case StmtKind::If: {
        const auto& branch = static_cast<const If&>(stmt);
        const double share = share_of(branch.condition);
        run(*branch.then_case(), times * share);
        if (branch.else_case() != nullptr) run(*branch.else_case(), times * (1 - share));
        return;
      }
      case StmtKind::Allocate: {
        const auto& allocate = static_cast<const Allocate&>(stmt);
        if (allocate.buffer->scope == kScopeShared)
          work_.shared_allocated += static_cast<size_t>(allocate.buffer->bytes());
        return run(*allocate.body(), times);
      }
      case StmtKind::Store:
        return store(static_cast<const Store&>(stmt), times);
      case StmtKind::Barrier:
        work_.barriers += times / (blocks_ * static_cast<double>(launch_.threads()));
        return;
      default:
        visit_children(stmt, [&](const Stmt& child) { run(child, times); });
    }
  }

 private:
  void loop(const Loop& loop, double times) {
    const double trips = std::max<double>(0, static_cast<double>(Analyzer::at(loop).bounds(loop.extent).max));
    if (loop.loop_kind == LoopKind::Bound) {
      const GridAxis axis = grid_axis(loop.thread);
      (axis.of_block ? launch_.grid : launch_.block)[axis.position] = static_cast<unsigned>(trips);
      if (axis.of_block) blocks_ *= trips;
      if (!axis.of_block && axis.position == 0) lane_ = &loop;
    } else if (loop.loop_kind == LoopKind::Serial) {
      work_.instructions += 2 * times * trips;  // counting and branching
    }
    run(*loop.body(), times * trips);
  }

  /// Of the threads, those for which a guard on their number holds; all for other conditions.
  double share_of(const Expr& condition) const {
    if (condition.is(ExprKind::And)) return share_of(condition.arg(0)) * share_of(condition.arg(1));
    int64_t limit = 0;
    if (lane_ == nullptr || condition.args().size() != 2 || condition.arg(0).get() != lane_->var.get() ||
        !as_const_int(condition.arg(1), &limit))
      return 1;
    const double threads = launch_.block[0];
    if (condition.is(ExprKind::Eq)) return 1 / threads;
    return condition.is(ExprKind::Lt) ? std::min(1.0, static_cast<double>(limit) / threads) : 1;
  }

  void store(const Store& store, double times) {
    const Analyzer ranges = Analyzer::at(store);
    const auto count = [&](const Expr& expr) {
      walk_expr(expr, [&](const Expr& part) {
        if (part.dtype().is_index() || part.args().empty()) return;
        if (part.is(ExprKind::Call)) work_.instructions += 16 * times;
        // A product goes into the sum that it is part of.
        if (!part.is(ExprKind::Load) && !part.is(ExprKind::Mul)) work_.instructions += times;
      });
    };
    count(store.value);
    visit_accesses(store, [&](const AccessSite& access) {
      work_.instructions += times;
      const std::string& scope = access.buffer->scope;
      if (scope == kScopeGlobal) {
        work_.global_sectors += times * access_of(store, access).sectors;
        double& bytes = work_.touched[access.buffer.get()];
        const Interval range = ranges.bounds(access.indices[0]);
        bytes =
            std::max(bytes, static_cast<double>((range.max - range.min + 1) * access.buffer->dtype.bytes()));
      } else if (scope == kScopeShared) {
        work_.shared_wavefronts += times * access_of(store, access).wavefronts;
      }
    });
  }

  /// What each thread of a warp costs. Where its address is read from memory: a sector of its own.
  LockstepAccess access_of(const Stmt& stmt, const AccessSite& access) const {
    const LockstepMachine machine{&execution_, kWarp, kSectorBytes};
    LockstepAccess warp = lockstep_access(stmt, access, machine).value_or(LockstepAccess{1, 0, 1, 1});
    if (warp.threads > 0) {
      warp.sectors /= warp.threads;
      warp.wavefronts /= warp.threads;
    }
    return warp;
  }

  Work& work_;
  Launch& launch_;
  const ExecutionModel& execution_;
  double blocks_ = 1;
  const Loop* lane_ = nullptr;  // along which threads of a warp lie
};

double seconds_of(const Stmt& stmt, const Architecture& architecture) {
  Work work;
  Launch launch;
  const ExecutionModel execution = execution_of(architecture);
  Counter(work, launch, execution).run(stmt, 1);
  const double blocks = static_cast<double>(launch.grid[0]) * launch.grid[1] * launch.grid[2];
  const double warps = std::ceil(static_cast<double>(launch.threads()) / kWarp);
  const double resident =
      std::max(1u, architecture.resident_blocks(kRegisters, launch.threads(), work.shared_allocated));
  const double processors = std::min<double>(architecture.multiprocessors, blocks);
  const double waves = std::ceil(blocks / (architecture.multiprocessors * resident));
  // Blocks of the last wave that are missing leave processors idle.
  const double full = blocks / (waves * architecture.multiprocessors * resident);
  const double held = std::min(resident, std::ceil(blocks / architecture.multiprocessors)) * warps;
  const double busy =
      std::min(1.0, held / kBusyWarps) * (blocks > architecture.multiprocessors ? std::max(full, 0.5) : 1);
  const double hertz = architecture.clock_mhz * 1e6;
  const double idle_lanes = warps * kWarp / static_cast<double>(launch.threads());
  const double arithmetic =
      work.instructions * idle_lanes / (processors * architecture.fma_per_cycle * hertz * busy);
  // One wavefront a cycle.
  const double shared = work.shared_wavefronts / (processors * hertz * busy);
  const double l2 =
      work.global_sectors * kSectorBytes /
      (architecture.l2_gb_per_second * 1e9 * std::min(1.0, busy * processors / architecture.multiprocessors));
  double bytes = 0;
  for (const auto& [buffer, touched] : work.touched) bytes += touched;
  const double memory = bytes / (architecture.memory_gb_per_second * 1e9);
  const double barriers =
      work.barriers * kBarrierCycles * std::max(1.0, blocks / (processors * resident)) / hertz;
  return kLaunchSeconds + std::max({arithmetic, shared, l2, memory}) + barriers;
}

}  // namespace

double modelled_seconds(const LoweredProgram& lowered, const Architecture& architecture) {
  double seconds = 0;
  for (const Stmt* launch : launched_statements(lowered.program))
    seconds += seconds_of(*launch, architecture);
  return std::max(seconds, kLaunchSeconds);
}

double peak_fma_per_second(const Architecture& architecture) {
  return static_cast<double>(architecture.multiprocessors) * architecture.fma_per_cycle *
         architecture.clock_mhz * 1e6;
}

}  // namespace tunesmith::cuda
