// Tests verification itself: puts mistakes into programs of a space
// (mutate.h), compiles and verifies them like candidates, and reports
// whether they are accepted: `tunesmith workloads check-verification`.
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

/// The results for one or more workloads. Good means: no
/// correct program is refused and no wrong one is accepted.
struct VerificationTally {
  int right = 0;                           // correct programs
  int right_refused = 0;                   // correct programs that were refused
  int wrong = 0;                           // mutants that compute something else
  int accepted = 0;                        // wrong mutants that were accepted
  int equivalent = 0;                      // mutants that compute the same
  int not_compiled = 0;                    // mutants that do not lower or compile
  int hidden = 0;                          // accepted: only denormals of one input would show it
  int undefined = 0;                       // accepted: an unwritten register happened to have the right value
  std::map<std::string, int> kinds;        // wrong programs by mutation_name()
  std::vector<std::string> not_exercised;  // of one workload, as Runner::not_exercised()

  /// Adds everything except not_exercised.
  void add(const VerificationTally& other);
};

struct VerificationCheckOptions {
  int programs = 1;  // scheduled programs drawn from the space, besides the unscheduled one
  int sites = 2;     // places per kind of mistake in one program
  uint64_t seed = 0;
  MeasureOptions measure;  // for each program; one call is enough
};

/// `tell` receives a sentence for each program that was treated wrongly. Nothing is timed: the
/// `machine` lock is shared with other computing processes and waited for before each program.
/// Verification runs in worker processes of the space's target, `worker`. Throws UserError if
/// no program of the workload can be verified, and EnvironmentError. Belongs to one thread.
VerificationTally check_verification(const Workload& workload, Space& space, const WorkerTarget& worker,
                                     MachineLock& machine, const VerificationCheckOptions& options,
                                     const std::function<void(const std::string&)>& tell);

}  // namespace tunesmith
#pragma GCC visibility pop
