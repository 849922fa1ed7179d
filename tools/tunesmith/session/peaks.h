// The peak to which shares refer: one number per machine, from any run.
#pragma once

#include <map>
#include <string>

#include <tunesmith/measure/runner.h>
#include <tunesmith/records/environment.h>
#include <tunesmith/records/record_store.h>
#include <tunesmith/space/space.h>
#include <tunesmith/workload/workload.h>

namespace tunesmith::cli {

/// The highest recorded roof (RecordedRoof::quantity) in the store at `database` (as for
/// database_path()) for tasks of the space's target on this machine; 0 if there is none.
double known_roof(const std::string& database, const Space& space, int threads, const std::string& quantity);

/// The machine's peaks, measured on demand and stored in `store` if higher
/// than the recorded ones: disturbances only lower them. Used by one thread.
class Peaks {
 public:
  Peaks(const Space& space, const MeasureOptions& measure, int threads, RecordStore& store,
        const Environment& environment)
      : space_(space), measure_(measure), threads_(threads), store_(store), environment_(environment) {}
  /// The operations per second of peak_kernel() for the workload: the highest known; 0 if there is none.
  double of(const Workload& workload);

 private:
  const Space& space_;
  const MeasureOptions& measure_;
  const int threads_;
  RecordStore& store_;
  const Environment environment_;
  std::map<std::string, double> peaks_;  // by the roof's quantity
};

}  // namespace tunesmith::cli
