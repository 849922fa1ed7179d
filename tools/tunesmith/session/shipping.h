// Programs that leave Tunesmith in a library: those on record as verified, or verified now.
#pragma once

#include <string>
#include <vector>

#include <tunesmith/measuring/worker_runner.h>
#include <tunesmith/space/space.h>
#include <tunesmith/target/compiled_kernel.h>
#include <tunesmith/tuning/first_program.h>

#include "session.h"

namespace tunesmith::cli {

/// A C identifier: "gmm_1x512" and the like become gmm_1x512.
std::string c_identifier(const std::string& text);
/// A name that a person chose is taken as it is, or refused.
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
};

struct ShippingOptions {
  std::string database;
  int threads = 1;         // that programs were tuned for
  int worker_threads = 0;  // that a program which is verified now has; 0: all
  double candidate_time_out = 10;
  bool allow_memory = false;
  bool quiet = false;             // say nothing of what is verified now
  int64_t draws = kDefaultDraws;  // of which the first program of a task without a record is the best
};

class Shipper {
 public:
  /// All must outlive it.
  Shipper(Session& session, const Space& space, ShippingOptions options)
      : session_(session), space_(space), options_(std::move(options)) {}

  /// The best of the workload's records that the check still finds right. `typed`: what the person called the
  /// workload; `symbol`: of the kernel. Throws UserError when there is none, NotCompiled where the last that
  /// was left does not compile.
  Shipped ship_best(const Workload& workload, const std::string& typed, const std::string& symbol) const;
  /// The best `count` of them, the best first; at least one.
  std::vector<Shipped> ship_best(const Workload& workload, const std::string& typed,
                                 const std::string& symbol, size_t count) const;

  /// Of some draws the best few by the space's cost model are verified and timed: the fastest. The next best
  /// is tried where one does not compile or is wrong. Throws UserError where none is left.
  Shipped ship_untuned(const Workload& workload, const std::string& symbol) const;
  /// ship_best(), or where there is no record ship_untuned().
  Shipped ship_best_or_untuned(const Workload& workload, const std::string& typed,
                               const std::string& symbol) const;

  /// `id` names a record or a file with a trace.
  Shipped ship(const Workload& workload, const std::string& id, const std::string& symbol) const;

 private:
  /// What a verified program takes, and how it was verified.
  struct Verified {
    double seconds = 0.0;
    std::string of_twin;  // "" or ", as its twin of gmm:n=128,..."
  };
  Verified measure(const Workload& workload, const Candidate& candidate, const CompiledKernel& kernel) const;

  Session& session_;
  const Space& space_;
  ShippingOptions options_;
};

}  // namespace tunesmith::cli
