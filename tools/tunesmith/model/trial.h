// Evaluates how well a cost model orders programs that it has not learned from.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <tunesmith/search/cost_model.h>

#include "tasks.h"

namespace tunesmith::cli {

struct ModelTrial {
  std::vector<int64_t> counts;  // numbers of the task's programs to learn from, increasing
  bool alone = false;           // do not pre-train on the other tasks
  uint64_t seed = 0;            // selects the held-out programs, and the order of learning from the others
};

struct ModelFigures {
  std::string workload;
  bool ahead = false;    // pre-trained on the other tasks
  int64_t measured = 0;  // number of this task's programs that the model learned from
  int64_t programs = 0;  // number of held-out programs, on which the figures are based
  double pairs = 0.0;    // share of pairs in the right order
  double apart = 0.0;    // the same for pairs whose times differ by at least a tenth
  double best_of_64 = 0.0;
  double rank_correlation = 0.0;
  double learn_seconds = 0.0;
  double predict_seconds = 0.0;  // for all held-out programs
};

/// Evaluates the model on one task, pre-trained on the others. Holds out a third of the task's programs, at
/// most a thousand; leaves out counts that exceed the rest. Tasks with the same computation do not count as
/// others.
std::vector<ModelFigures> try_model(const std::vector<MeasuredTask>& tasks, size_t task,
                                    const std::function<std::shared_ptr<CostModel>()>& make,
                                    const ModelTrial& trial);

nlohmann::json to_json(const ModelFigures& figures);
/// Prints the mean over the tasks below the figures.
void print_figures(const std::vector<ModelFigures>& figures, const std::string& model);

}  // namespace tunesmith::cli
