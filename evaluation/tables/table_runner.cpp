
#include "tunesmith/evaluation/replay.h"
#include "tunesmith/support/error.h"

namespace tunesmith {

TableRunner::TableRunner(const Table& table) {
  for (const TableRow& row : table.rows) {
    const double seconds = seconds_of(row).value_or(0.0);
    programs_.emplace(row.lowered_hash, Program{seconds, &row});
    if (seconds > 0.0 && (best_seconds_ == 0.0 || seconds < best_seconds_)) best_seconds_ = seconds;
  }
}

std::string TableRunner::refuse(const Candidate& candidate) const {
  return programs_.contains(candidate.lowered_hash) ? "" : kNotInTable;
}

const TableRunner::Program& TableRunner::find(const CompiledKernel& kernel) const {
  const auto found = programs_.find(std::stoull(kernel.object, nullptr, 16));
  check_invariant(found != programs_.end(), "programs that a table does not have were refused as drafts");
  return found->second;
}

std::vector<MeasureResult> TableRunner::run(std::span<const MeasureRequest> requests) {
  std::vector<MeasureResult> results;
  for (const MeasureRequest& request : requests) {
    const Program& program = find(*request.kernel);
    MeasureResult& result = results.emplace_back();
    if (program.row->failure) {
      result.failure = program.row->failure;
    } else {
      result.timing = make_timing({program.seconds});
    }
    spent_seconds_ += program.row->cost;
  }
  return results;
}

std::vector<InterleavedTimes> TableRunner::interleave(std::span<const CompiledKernel* const> kernels,
                                                      const InterleaveOptions& options) {
  std::vector<InterleavedTimes> times;
  for (const CompiledKernel* kernel : kernels) {
    InterleavedTimes& one = times.emplace_back();
    const Program& program = find(*kernel);
    if (program.row->failure) {
      one.failure = CandidateFailure{FailureCause::LoadError, "the recorded table has no time of it"};
    } else {
      one.samples.assign(static_cast<size_t>(options.rounds), program.seconds);
    }
  }
  return times;
}

}  // namespace tunesmith
