// What shares of the peak are of: one number a machine, whichever run measured it.
#pragma once

#include <map>
#include <string>

#include <tunesmith/measure/runner.h>
#include <tunesmith/records/environment.h>
#include <tunesmith/records/record_store.h>
#include <tunesmith/space/space.h>
#include <tunesmith/workload/workload.h>

namespace tunesmith::cli {

/// The highest of a quantity (RecordedRoof::quantity) that the store at `database` (as database_path() takes
/// it) knows for tasks of the space's target on this machine; 0 where there is none.
double known_roof(const std::string& database, const Space& space, int threads, const std::string& quantity);

/// The machine's peaks, each measured when it is first asked for and kept in `store` where it is higher than
/// what the store knows: disturbances only lower it. Used by one thread.
class Peaks {
 public:
  Peaks(const Space& space, const MeasureOptions& measure, int threads, RecordStore& store,
        const Environment& environment)
      : space_(space), measure_(measure), threads_(threads), store_(store), environment_(environment) {}
  /// Operations a second of peak_kernel() for the workload: the highest known; 0 where there is none.
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
