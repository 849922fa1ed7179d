// Replays searches on a recorded table, with a target and a runner that answer from it. Nothing is compiled
// or run, and a seed gives the same result on every machine.
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

/// A target with the quantities of the table's target. Its compiled
/// kernels only identify their program; only a TableRunner accepts them.
std::shared_ptr<Target> make_table_target(const Table& table);

/// The table's modules and extensions with the searchers and cost model of `search`, under its name.
SpaceSpec table_space(const Table& table, const SpaceSpec& search);

/// Answers with the recorded times, one sample each: seconds_of(). Belongs to one task; `table` outlives it.
class TableRunner final : public Runner {
 public:
  explicit TableRunner(const Table& table);

  /// For TuneHooks::refuse: refuses programs that are not in the table.
  std::string refuse(const Candidate& candidate) const;

  std::vector<MeasureResult> run(std::span<const MeasureRequest> requests) override;
  std::vector<InterleavedTimes> interleave(std::span<const CompiledKernel* const> kernels,
                                           const InterleaveOptions& options) override;
  /// The recorded time of compiling and measuring the requested programs, in seconds.
  double spent_seconds() const { return spent_seconds_; }
  /// The time of the table's fastest program; 0 if none worked.
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

/// The reason given by TableRunner::refuse().
inline constexpr const char* kNotInTable = "the recorded table does not have the program";

/// How a table's programs have changed since recording, as modules, primitives and lowering change.
struct TableCheck {
  size_t standing = 0;     // the trace still gives this program
  size_t changed = 0;      // the trace gives another lowered program
  size_t merged = 0;       // of `changed`: the trace gives another row's program
  size_t lost = 0;         // the trace does not replay
  std::string first_lost;  // the reason for the first one
  bool same_rules = true;  // the space's rules are unchanged
};
/// Replays every trace on all threads of the pool. `space`: of table_space() on make_table_target().
TableCheck check_table(const Table& table, const Space& space, ThreadPool& pool);

/// The table with the current hashes of its traces. Times remain those of the programs lowered at recording,
/// which Table::target, unchanged, still identifies. Drops lost rows; of rows that merged into one program it
/// keeps the first.
Table rehash_table(const Table& table, const Space& space, ThreadPool& pool);

}  // namespace tunesmith
#pragma GCC visibility pop
