// How well a cost model orders programs that it has not learned from.
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
  std::vector<int64_t> counts;  // of the task's programs that it has learned from, increasing
  bool alone = false;           // without pre-training on the other tasks
  uint64_t seed = 0;            // selects the held-out programs, and the order of learning from the others
};

struct ModelFigures {
  std::string workload;
  bool ahead = false;    // trained on the other tasks before
  int64_t measured = 0;  // programs of this task that it learned from
  int64_t programs = 0;  // held out, on which the figures are based
  double pairs = 0.0;    // in the right order
  double apart = 0.0;    // of the pairs whose times differ by at least a tenth
  double best_of_64 = 0.0;
  double rank_correlation = 0.0;
  double learn_seconds = 0.0;
  double predict_seconds = 0.0;  // for the held-out programs
};

/// One task with the others. A third of its programs, a thousand at most, is held out; counts of which the
/// rest has too few programs are left out. The programs of equal computations are not among the others.
std::vector<ModelFigures> try_model(const std::vector<MeasuredTask>& tasks, size_t task,
                                    const std::function<std::shared_ptr<CostModel>()>& make,
                                    const ModelTrial& trial);

nlohmann::json to_json(const ModelFigures& figures);
/// With the means over the tasks below.
void print_figures(const std::vector<ModelFigures>& figures, const std::string& model);

}  // namespace tunesmith::cli
