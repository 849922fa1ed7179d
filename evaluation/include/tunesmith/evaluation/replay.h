// Searching in a recorded table: the target and the runner that answer from it. Nothing is compiled, nothing
// runs, and the same seed finds the same on every machine.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "tunesmith/evaluation/table.h"
#include "tunesmith/measure/runner.h"
#include "tunesmith/space/space.h"
#include "tunesmith/support/thread_pool.h"
#include "tunesmith/target/target.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// A target with the quantities of the one that the table was recorded for. Its compiled kernels say which
/// program they are and nothing else; only a TableRunner takes them.
std::shared_ptr<Target> make_table_target(const Table& table);

/// The table's modules and extensions with the searchers and the cost model of `search`, under its name.
SpaceSpec table_space(const Table& table, const SpaceSpec& search);

/// Answers with the recorded times: one sample, seconds_of(). Belongs to one task; `table` must outlive it.
class TableRunner final : public Runner {
 public:
  explicit TableRunner(const Table& table);

  /// TuneHooks::refuse: a program that the table does not have.
  std::string refuse(const Candidate& candidate) const;

  std::vector<MeasureResult> run(std::span<const MeasureRequest> requests) override;
  std::vector<InterleavedTimes> interleave(std::span<const CompiledKernel* const> kernels,
                                           const InterleaveOptions& options) override;
  /// Seconds that compiling and measuring what was asked for took when it was recorded.
  double spent_seconds() const { return spent_seconds_; }
  /// Of the table's fastest program; 0 when none worked.
  double best_seconds() const { return best_seconds_; }

 private:
  struct Program {
    double seconds = 0.0;  // 0: it failed
    const TableRow* row = nullptr;
  };
  const Program& find(const CompiledKernel& kernel) const;

  std::unordered_map<uint64_t, Program> programs_;
  double best_seconds_ = 0.0;
  double spent_seconds_ = 0.0;
};

/// The sentence of TableRunner::refuse().
inline constexpr const char* kNotInTable = "the recorded table does not have the program";

/// What has become of a table's programs since it was recorded, as modules, primitives and lowering change.
struct TableCheck {
  size_t standing = 0;     // its trace makes this very program
  size_t changed = 0;      // its trace makes another lowered program now
  size_t merged = 0;       // of `changed`: what it makes is another row's program
  size_t lost = 0;         // its trace does not replay
  std::string first_lost;  // why, of the first
  bool same_rules = true;  // the space's rules read as they did
};
/// Replays every trace, on all threads of the pool. `space`: of table_space() on make_table_target().
TableCheck check_table(const Table& table, const Space& space, ThreadPool& pool);

/// The table with the hashes that its traces give now. The times stay those of the programs as they were
/// lowered when it was recorded, which is what TableRow::rounds then says no more: tables are told apart by
/// Table::target, which stays. Rows that are lost are left out, of rows merged into one program the first
/// stays.
Table rehash_table(const Table& table, const Space& space, ThreadPool& pool);

}  // namespace tunesmith
#pragma GCC visibility pop
