// Would a wrong program of a workload be accepted? Mistakes are put into programs of a space (mutate.h),
// which are then compiled and verified as candidates are: what `tunesmith workloads check-verification`
// reports.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tunesmith/measure/runner.h"
#include "tunesmith/measuring/machine_lock.h"
#include "tunesmith/measuring/worker_runner.h"
#include "tunesmith/space/space.h"
#include "tunesmith/workload/workload.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// What became of the programs of one workload, or of several. Good is: no right one refused, no wrong one
/// accepted.
struct VerificationTally {
  int right = 0;                           // right programs
  int right_refused = 0;                   // of these, not accepted
  int wrong = 0;                           // mutants that compute something else
  int accepted = 0;                        // of these, accepted
  int equivalent = 0;                      // mutants that compute the same
  int not_compiled = 0;                    // mutants that do not lower or compile
  int hidden = 0;                          // accepted: no denormal of one input shows
  int undefined = 0;                       // accepted: the compiler chose the right value of a register
  std::map<std::string, int> kinds;        // wrong programs by mutation_name()
  std::vector<std::string> not_exercised;  // of one workload, as Runner::not_exercised()

  /// All but not_exercised.
  void add(const VerificationTally& other);
};

struct VerificationCheckOptions {
  int programs = 1;  // scheduled ones, drawn from the space, besides the unscheduled
  int sites = 2;     // places for each kind of mistake in one program
  uint64_t seed = 0;
  MeasureOptions measure;  // of each program; one call is enough
};

/// `tell`: of each program that was treated wrongly, a sentence. Nothing is timed: `machine` is shared with
/// all who do not measure, and waited for before each program. Verification happens in worker processes of
/// the space's target, `worker`. Throws UserError where no program of the workload can be verified, and
/// EnvironmentError. Belongs to one thread.
VerificationTally check_verification(const Workload& workload, Space& space, const WorkerTarget& worker,
                                     MachineLock& machine, const VerificationCheckOptions& options,
                                     const std::function<void(const std::string&)>& tell);

}  // namespace tunesmith
#pragma GCC visibility pop
