#include "peaks.h"

#include <filesystem>

#include <fmt/format.h>

#include <tunesmith/measuring/peak.h>
#include <tunesmith/tuning/tuner.h>

#include "say.h"
#include "session.h"

namespace tunesmith::cli {

double known_roof(const std::string& database, const Space& space, int threads, const std::string& quantity) {
  if (!std::filesystem::exists(database_path(database))) return 0.0;
  const RecordStore store = open_records(database, RecordStore::Mode::Read);
  const auto highest = store.highest_roof(task_key({}, space, threads),
                                          detect_environment(space.plugin_versions()).machine(), quantity);
  return highest ? highest->per_second : 0.0;
}

double Peaks::of(const Workload& workload) {
  const PeakKernel peak = peak_kernel(space_, workload.program, threads_);
  if (peak.operations <= 0.0) return 0.0;
  const std::string quantity = operations_roof(computed_type(workload.program), peak.unit);
  const auto [place, fresh] = peaks_.try_emplace(quantity, 0.0);
  if (!fresh) return place->second;
  const TaskKey task = task_key(workload, space_, threads_);
  const auto known = store_.highest_roof(task, environment_.machine(), quantity);
  place->second = known ? known->per_second : 0.0;
  WatchedRate now;
  {
    const MachineLock::Turn turn = measure_.machine->wait(MachineLock::Use::Measure, measure_.stop);
    try {
      now = watched([&] { return measure_peak(space_.target(), peak, threads_); });
    } catch (const EnvironmentError& error) {
      if (peak.unit.empty()) throw;
      say(fmt::format("{}; shares of the peak are not shown", error.what()));
      return place->second;
    }
  }
  if (now.per_second <= place->second) return place->second;
  place->second = now.per_second;
  store_.add_environment(environment_);
  store_.add_roof({make_id(), environment_.hash(), task.target, task.threads, task.device, quantity,
                   now.per_second, now_ms(), now.disturbed});
  return place->second;
}

}  // namespace tunesmith::cli
