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
  std::vector<int64_t> counts;  // of programs of the task that it has learned from, rising
  bool alone = false;           // without what it learns of the other tasks ahead
  uint64_t seed = 0;            // which programs are held out, and in which order it is told of the others
};

struct ModelFigures {
  std::string workload;
  bool ahead = false;    // trained on the other tasks before
  int64_t measured = 0;  // programs of this task that it learned from
  int64_t programs = 0;  // held out, of which the figures are
  double pairs = 0.0;    // in order
  double apart = 0.0;    // of those pairs whose times differ by a tenth and more
  double best_of_64 = 0.0;
  double rank_correlation = 0.0;
  double learn_seconds = 0.0;
  double predict_seconds = 0.0;  // of the programs held out
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
