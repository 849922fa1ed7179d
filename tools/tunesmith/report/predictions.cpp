// The cost model's scores before learning, beside the measured times.
#include <nlohmann/json.hpp>

#include <tunesmith/tuning/model_batches.h>

#include "report/sections.h"

namespace tunesmith::report {

nlohmann::json predictions(const TaskRecords& task) {
  nlohmann::json runs = nlohmann::json::array();
  for (const RecordedRun& run : task.runs) {
    const std::vector<Record> records = task.searched(run.id);
    nlohmann::json programs = nlohmann::json::array();
    for (const Record& record : records) {
      if (!record.score) continue;
      programs.push_back({*record.score,
                          record.timing ? nlohmann::json(record.timing->min) : nlohmann::json(nullptr),
                          record.id});
    }
    if (programs.empty()) continue;
    nlohmann::json batches = nlohmann::json::array();
    for (const ModelBatch& batch : model_batches(records)) {
      batches.push_back({{"trials", batch.trials},
                         {"programs", batch.programs},
                         {"rank_correlation", batch.rank_correlation},
                         {"best_of_eighth", batch.best_of_eighth}});
    }
    runs.push_back({{"run", run.id},
                    {"cost_model", run.cost_model},
                    {"batches", std::move(batches)},
                    {"programs", std::move(programs)}});
  }
  return runs;
}

}  // namespace tunesmith::report
