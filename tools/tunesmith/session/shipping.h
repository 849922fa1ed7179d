// Programs for libraries: recorded as verified, or verified now.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <tunesmith/measuring/worker_runner.h>
#include <tunesmith/space/space.h>
#include <tunesmith/target/compiled_kernel.h>
#include <tunesmith/tuning/first_program.h>
#include <tunesmith/tuning/intervals.h>

#include "session.h"

namespace tunesmith::cli {

/// Makes a C identifier: "gmm_1x512" and similar become gmm_1x512.
std::string c_identifier(const std::string& text);
/// Refuses a name that is no valid identifier.
void require_identifier(const std::string& name);
/// Callers give arrays without gaps: workloads with `strides` are parts of networks. Throws UserError.
void require_arrays_without_gaps(const Program& program);

/// The target's compiler refuses the program: nothing that a user wrote is wrong.
class NotCompiled : public EnvironmentError {
 public:
  using EnvironmentError::EnvironmentError;
};

/// A program that was verified, when it was tuned or now.
struct Shipped {
  CompiledKernel kernel;
  std::string provenance;
  bool measured_now = false;
  bool untuned = false;  // the first program of a task without a record
  /// "n=1..31: record 5f0c": where extents vary, which program is for which values.
  std::vector<std::string> intervals;
};

struct ShippingOptions {
  std::string database;
  int threads = 1;         // for which programs were tuned
  int worker_threads = 0;  // of programs that are verified now; 0: all
  double candidate_time_out = 10;
  bool allow_memory = false;
  bool quiet = false;             // do not report what is verified now
  int64_t draws = kDefaultDraws;  // number of draws for the first program of a task without a record
};

class Shipper {
 public:
  /// All must outlive it.
  Shipper(Session& session, const Space& space, ShippingOptions options)
      : session_(session), space_(space), options_(std::move(options)) {}

  /// The best of the workload's records that the current check accepts; first times them in turn where no run
  /// did, and says so, or in the provenance that they never were. `typed`:
  /// the workload as the user wrote it; `symbol`: of the kernel. Throws UserError
  /// if there is none, NotCompiled if the last candidate does not compile. Where extents vary, it may be of
  /// several records, each for an interval of values (records_of_intervals).
  Shipped ship_best(const Workload& workload, const std::string& typed, const std::string& symbol) const;
  /// The best `count` of them, the best first; at least one.
  std::vector<Shipped> ship_best(const Workload& workload, const std::string& typed,
                                 const std::string& symbol, size_t count) const;

  /// Verifies and times the best few of some draws by the space's cost model, and returns the
  /// fastest. Tries the next if one does not compile or is wrong. Throws UserError if none is left.
  Shipped ship_untuned(const Workload& workload, const std::string& symbol) const;
  /// ship_best(), or ship_untuned() if there is no record.
  Shipped ship_best_or_untuned(const Workload& workload, const std::string& typed,
                               const std::string& symbol) const;

  /// `id` names a record or a file with a trace.
  Shipped ship(const Workload& workload, const std::string& id, const std::string& symbol) const;

 private:
  /// Times in turn what no ranking compared. False where that is still so, after it has said why.
  bool compare_recorded(const Workload& workload) const;
  MeasureOptions measure_options(std::shared_ptr<MachineLock> machine) const;
  /// One program of those of the intervals. Throws NotShipped and NotCompiled.
  Shipped ship_intervals(const Workload& workload, const RecordsOfIntervals& records,
                         const std::string& symbol) const;
  /// The time of a verified program, and how it was verified.
  struct Verified {
    double seconds = 0.0;
    std::string of_twin;  // "" or ", as its twin of gmm:n=128,..."
  };
  /// `also_at`: as MeasureOptions::also_verified_at.
  Verified measure(const Workload& workload, const Candidate& candidate, const CompiledKernel& kernel,
                   const std::vector<std::vector<int64_t>>& also_at = {}) const;

  Session& session_;
  const Space& space_;
  ShippingOptions options_;
};

}  // namespace tunesmith::cli
