#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "columns.h"
#include "store_facts.h"
#include "tunesmith/affine/simplify.h"
#include "tunesmith/ir/annotation_keys.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/performance/features.h"
#include "tunesmith/support/error.h"
#include "tunesmith/support/thread_pool.h"

namespace tunesmith {
namespace {

using features::Level;
using features::Machine;
using features::StoreFacts;

/// The maximum number of iterations if the loop's range varies (tightened loops).
double trip_count(const Loop& loop) {
  int64_t extent = 1;
  if (as_const_int(loop.extent, &extent)) return static_cast<double>(extent);
  const Interval range = Analyzer::at(loop).bounds(loop.extent);
  return range.max < Interval::kMax ? static_cast<double>(std::max<int64_t>(range.max, 0)) : 1.0;
}

/// The number of statements that access each buffer. For look-up only, never iterated.
std::map<const BufferNode*, int> count_uses(const Program& program) {
  std::map<const BufferNode*, int> uses;
  std::vector<const BufferNode*> seen;
  walk(static_cast<const Stmt&>(program.root()), [&](const Stmt& stmt) {
    const Store* store = stmt.as<Store>();
    if (store == nullptr) return;
    seen.assign(1, store->buffer.get());
    visit_exprs(*store, [&](const Expr& expr) {
      walk_expr(expr, [&](const Expr& part) {
        if (const LoadNode* load = part.as<LoadNode>()) seen.push_back(load->buffer.get());
      });
    });
    std::ranges::sort(seen);
    const auto repeated = std::ranges::unique(seen);
    seen.erase(repeated.begin(), repeated.end());
    for (const BufferNode* buffer : seen) ++uses[buffer];
  });
  return uses;
}

class Extractor {
 public:
  Extractor(const Program& program, const DeviceModel& device, std::span<const AddedColumn> added)
      : device_(device), machine_(device), added_(added), uses_(count_uses(program)) {
    rows_.columns = feature_columns().size() + added.size();
  }

  FeatureRows run(const Program& program) {
    visit(program.root());
    return std::move(rows_);
  }

 private:
  void visit(const Stmt& stmt) {
    switch (stmt.kind) {
      case StmtKind::Loop: {
        const auto& loop = static_cast<const Loop&>(stmt);
        const bool intrinsic = loop.annotations.count(kTensorIntrinsic) != 0;
        levels_.push_back(
            {&loop, trip_count(loop), intrinsic || (!levels_.empty() && levels_.back().intrinsic)});
        if (loop.loop_kind == LoopKind::Parallel && !in_parallel_) {
          in_parallel_ = true;
          launches_ = 1.0;
          for (size_t i = 0; i + 1 < levels_.size(); ++i) launches_ *= levels_[i].trips;
          visit(*loop.body());
          in_parallel_ = false;
          launches_ = 0.0;
        } else {
          visit(*loop.body());
        }
        levels_.pop_back();
        return;
      }
      case StmtKind::Allocate: {
        double times = 1.0;
        for (const Level& level : levels_) times *= level.trips;
        const auto& allocate = static_cast<const Allocate&>(stmt);
        allocated_[allocate.buffer.get()] = times;
        visit(*allocate.body());
        return;
      }
      case StmtKind::If:
        conditions_ += 1.0;
        visit_children(stmt, [&](const Stmt& child) { visit(child); });
        conditions_ -= 1.0;
        return;
      case StmtKind::Store:
        return add_row(static_cast<const Store&>(stmt));
      default:
        visit_children(stmt, [&](const Stmt& child) { visit(child); });
    }
  }

  void add_row(const Store& store) {
    StoreFacts facts(machine_);
    facts.store = &store;
    facts.levels = levels_;
    facts.conditions = conditions_;
    facts.launches = std::exchange(launches_, 0.0);
    if (const auto found = allocated_.find(store.buffer.get()); found != allocated_.end()) {
      facts.allocated_bytes = static_cast<double>(store.buffer->bytes());
      facts.allocations = found->second;
    }
    features::analyse(facts, uses_, earlier_);
    const size_t begin = rows_.values.size();
    features::append_row(facts, [&](double value) { append(value); });
    if (!added_.empty()) add_numbers(store, begin);
    earlier_.push_back(std::move(facts));
  }

  void append(double value) {
    constexpr double kMaxFloat = std::numeric_limits<float>::max();
    rows_.values.push_back(static_cast<float>(std::clamp(value, -kMaxFloat, kMaxFloat)));
  }

  /// Appends the added columns to the row that starts at `begin`.
  void add_numbers(const Store& store, size_t begin) {
    std::vector<const Loop*> loops;
    std::vector<double> trips;
    for (const Level& level : levels_) {
      loops.push_back(level.loop);
      trips.push_back(level.trips);
    }
    const std::vector<float> row(rows_.values.begin() + static_cast<std::ptrdiff_t>(begin),
                                 rows_.values.end());
    for (const AddedColumn& column : added_) append(column.value({store, loops, trips, row, device_}));
  }

  const DeviceModel& device_;
  const Machine machine_;
  const std::span<const AddedColumn> added_;
  const std::map<const BufferNode*, int> uses_;
  std::map<const BufferNode*, double> allocated_;  // number of allocations; for look-up only, never iterated
  std::vector<StoreFacts> earlier_;
  std::vector<Level> levels_;
  double conditions_ = 0.0;
  bool in_parallel_ = false;
  double launches_ = 0.0;  // of the enclosing parallel loop, until its first store
  FeatureRows rows_;
};

}  // namespace

FeatureRows extract_features(const Program& lowered, const DeviceModel& device,
                             std::span<const AddedColumn> added) {
  return Extractor(lowered, device, added).run(lowered);
}

const FeatureRows& features_of(const Candidate& candidate, const DeviceModel& device) {
  check_invariant(candidate.has_program(), "features are asked for of a candidate with a program");
  return candidate.kept<FeatureRows>([&] {
    return extract_features(candidate.lowered.program, device,
                            candidate.added_columns ? std::span<const AddedColumn>(*candidate.added_columns)
                                                    : std::span<const AddedColumn>());
  });
}

std::vector<const FeatureRows*> features_of(std::span<const CandidatePtr> candidates,
                                            const DeviceModel& device) {
  std::vector<const FeatureRows*> rows(candidates.size());
  ThreadPool(std::clamp(candidates.size(), size_t{1}, available_processors()))
      .parallel_for(candidates.size(), [&](size_t i) { rows[i] = &features_of(*candidates[i], device); });
  return rows;
}

}  // namespace tunesmith
