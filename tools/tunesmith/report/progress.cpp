// The best time of each run over its trials.
#include <algorithm>

#include <nlohmann/json.hpp>

#include "report/sections.h"

namespace tunesmith::report {
namespace {

double seconds_after(int64_t began_ms, int64_t time_ms) {
  return static_cast<double>(time_ms - began_ms) * 1e-3;
}

nlohmann::json best_so_far(const RecordedRun& run, const std::vector<Record>& records) {
  nlohmann::json points = nlohmann::json::array();
  const Record* best = nullptr;
  for (const Record& record : records) {
    const bool better = record.ok() && (best == nullptr || record.seconds < best->seconds);
    if (better) best = &record;
    const bool last = &record == &records.back();
    if (better || (last && best != nullptr))
      points.push_back(
          {record.candidate + 1, seconds_after(run.began_ms, record.time_ms), best->seconds, best->id});
  }
  return points;
}

}  // namespace

nlohmann::json progress(const TaskRecords& task) {
  nlohmann::json runs = nlohmann::json::array();
  for (const RecordedRun& run : task.runs) {
    const std::vector<Record> records = task.searched(run.id);
    const bool ended = run.ended_ms != 0;
    const int64_t last = ended ? run.ended_ms : records.empty() ? run.began_ms : records.back().time_ms;
    runs.push_back({{"id", run.id},
                    {"command", run.command},
                    {"seed", run.seed},
                    {"space", run.space},
                    {"searcher", run.searcher},
                    {"cost_model", run.cost_model},
                    {"options", run.options},
                    {"began_ms", run.began_ms},
                    {"ended_ms", ended ? nlohmann::json(run.ended_ms) : nlohmann::json(nullptr)},
                    {"ended_because", ended ? nlohmann::json(run.ended_because) : nlohmann::json(nullptr)},
                    {"trials", records.size()},
                    {"valid", std::ranges::count_if(records, &Record::ok)},
                    {"seconds", seconds_after(run.began_ms, last)},
                    {"best", best_so_far(run, records)}});
  }
  return runs;
}

}  // namespace tunesmith::report
