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
#include "traces.h"

namespace tunesmith::cli {

/// Makes a C identifier: "gmm_1x512" and similar become gmm_1x512.
std::string c_identifier(const std::string& text);
/// Refuses a name that is no valid identifier.
void require_identifier(const std::string& name);
/// Refuses arrays with gaps, which callers cannot give: workloads with `strides` are parts of networks.
/// Throws UserError.
void require_arrays_without_gaps(const Program& program);

/// The target's compiler refuses the program: no input of the user is wrong.
class NotCompiled : public EnvironmentError {
 public:
  using EnvironmentError::EnvironmentError;
};

/// A program that was verified, either when it was tuned or now.
struct Shipped {
  CompiledKernel kernel;
  std::string provenance;
  bool measured_now = false;
  bool untuned = false;  // the first program of a task without a record
  /// If extents vary: which program is for which values, such as "n=1..31: record 5f0c".
  std::vector<std::string> intervals;
};

struct ShippingOptions {
  Measurements measurements;
  int worker_threads = 0;  // for programs that are verified now; 0: all
  double candidate_time_out = 10;
  bool allow_memory = false;
  bool quiet = false;             // do not report what is verified now
  int64_t draws = kDefaultDraws;  // number of draws for the first program of a task without a record
};

class Shipper {
 public:
  /// The session and the space must outlive the object.
  Shipper(Session& session, const Space& space, ShippingOptions options)
      : session_(session), space_(space), options_(std::move(options)) {}

  /// The best of the workload's records that the current check accepts. If no ranking has compared them,
  /// times them alternately and reports it, or says in the provenance that they were never compared. `typed`:
  /// the workload as the user wrote it; `symbol`: the kernel's. If extents vary, the result may have several
  /// records' programs, each for an interval of values (records_of_intervals). Throws UserError if there is
  /// no record, NotCompiled if the last candidate does not compile.
  Shipped ship_best(const Workload& workload, const std::string& typed, const std::string& symbol) const;
  /// The best `count` programs, the best first; at least one.
  std::vector<Shipped> ship_best(const Workload& workload, const std::string& typed,
                                 const std::string& symbol, size_t count) const;

  /// Verifies and times the best few draws by the space's cost model, and returns the fastest. Tries the next
  /// one if a program does not compile or is wrong. Throws UserError if none is left.
  Shipped ship_untuned(const Workload& workload, const std::string& symbol) const;
  /// ship_best(), or ship_untuned() if there is no record.
  Shipped ship_best_or_untuned(const Workload& workload, const std::string& typed,
                               const std::string& symbol) const;

  /// `id` names a record or a file with a trace.
  Shipped ship(const Workload& workload, const std::string& id, const std::string& symbol) const;

 private:
  /// Times records that no ranking compared alternately. Returns false, after reporting why, if they are
  /// still not compared.
  bool compare_recorded(const Workload& workload) const;
  MeasureOptions measure_options(std::shared_ptr<MachineLock> machine) const;
  /// Makes one program from those of the intervals. Throws NotShipped and NotCompiled.
  Shipped ship_intervals(const Workload& workload, const RecordsOfIntervals& records,
                         const std::string& symbol) const;
  /// The time of a verified program, and how it was verified.
  struct Verified {
    double seconds = 0.0;
    std::string of_twin;  // "" or ", as its twin of gmm:n=128,..."
  };
  /// `also_at`: see MeasureOptions::also_verified_at.
  Verified measure(const Workload& workload, const Candidate& candidate, const CompiledKernel& kernel,
                   const std::vector<std::vector<int64_t>>& also_at = {}) const;

  Session& session_;
  const Space& space_;
  ShippingOptions options_;
};

}  // namespace tunesmith::cli
