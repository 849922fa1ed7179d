// The inputs of trees: a store's features, and the analytical model's estimate.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "../analytical/estimate.h"

namespace tunesmith::xgboost {

struct Sample;

/// The rows of all programs in sequence.
struct Inputs {
  std::vector<float> values;  // per row as many as input_names()
  std::vector<double> base;   // for each row: the logarithm of the estimated cycles
};

/// Names of the inputs in the order of a row: the feature columns, then the estimate's parts.
std::vector<std::string> input_names(std::span<const FeatureColumn> columns);

/// `columns`: the width of a row. Throws InternalError for rows of another width.
Inputs inputs_of(std::span<const Sample> programs, size_t columns, const analytical::Machine& machine);

}  // namespace tunesmith::xgboost
