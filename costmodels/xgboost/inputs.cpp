#include "inputs.h"

#include <algorithm>
#include <cmath>

#include <tunesmith/support/error.h>

#include "pack_sum.h"

namespace tunesmith::xgboost {

namespace {

constexpr size_t kEstimated = 8;  // inputs behind the columns

/// Limited to a range with finite float logarithms.
double cycles_of(const analytical::StoreCycles& store) { return std::clamp(store.total(), 1.0, 1e30); }

}  // namespace

std::vector<std::string> input_names(std::span<const FeatureColumn> columns) {
  std::vector<std::string> names;
  for (const FeatureColumn& column : columns) names.push_back(column.name);
  for (const char* part : {"compute", "loops", "l2", "memory", "launch"})
    names.push_back(std::string("estimated_") + part + "_share");  // of the store's cycles
  names.emplace_back("estimated_cycles");
  names.emplace_back("estimated_share_of_program");
  names.emplace_back("estimated_program_cycles");
  check_invariant(names.size() == columns.size() + kEstimated, "each estimated input has a name");
  return names;
}

Inputs inputs_of(std::span<const Sample> programs, size_t columns, const analytical::Machine& machine) {
  Inputs inputs;
  std::vector<analytical::StoreCycles> stores;
  for (const Sample& program : programs) {
    const FeatureRows& rows = *program.rows;
    check_invariant(rows.rows() == 0 || rows.columns + kEstimated == columns,
                    "a model is given rows of the columns that it was told");
    stores.clear();
    double all = 0.0;
    for (size_t i = 0; i < rows.rows(); ++i) {
      stores.push_back(analytical::estimate_store(rows.row(i), machine));
      all += cycles_of(stores.back());
    }
    for (size_t i = 0; i < rows.rows(); ++i) {
      const std::span<const float> row = rows.row(i);
      inputs.values.insert(inputs.values.end(), row.begin(), row.end());
      const analytical::StoreCycles& store = stores[i];
      const double cycles = cycles_of(store);
      for (const double part : {store.compute, store.loops, store.l2, store.memory, store.launch})
        inputs.values.push_back(static_cast<float>(part / cycles));
      inputs.values.push_back(static_cast<float>(cycles));
      inputs.values.push_back(static_cast<float>(cycles / all));
      inputs.values.push_back(static_cast<float>(all));
      inputs.base.push_back(std::log(cycles));
    }
  }
  return inputs;
}

}  // namespace tunesmith::xgboost
