// What trees are grown on: a store's features, and what the analytical model makes of them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "../analytical/estimate.h"

namespace tunesmith::xgboost {

struct Sample;

/// Rows of all programs, one after the other.
struct Inputs {
  std::vector<float> values;  // as many in a row as input_names() gives
  std::vector<double> base;   // of each row: the logarithm of the cycles that are estimated
};

/// Names of the inputs, in the order of a row: those of the columns of features, and then the estimate's.
std::vector<std::string> input_names(std::span<const FeatureColumn> columns);

/// `columns`: of an input; rows of another width are an InternalError.
Inputs inputs_of(std::span<const Sample> programs, size_t columns, const analytical::Machine& machine);

}  // namespace tunesmith::xgboost
