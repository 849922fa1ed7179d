// Invented rows of features, and times that follow from them.
#pragma once

#include <cmath>
#include <vector>

#include <tunesmith/support/random.h>

#include "xgboost/pack_sum.h"

namespace tunesmith::test {

/// Programs have one to three stores. A store takes its estimated time, four times as much if its third
/// number is above a half, and more in proportion to the eighth.
struct Programs {
  explicit Programs(size_t count, uint64_t seed = 1, double scale = 1e-9) {
    const size_t columns = feature_columns().size();
    const analytical::Machine machine = analytical::machine_from(DeviceModel());
    for (size_t i = 0; i < count; ++i) {
      RandomStream random(seed, i);
      FeatureRows rows;
      rows.columns = columns;
      double cycles = 0.0;
      for (size_t row = 0, n = 1 + random.below(3); row < n; ++row) {
        for (size_t c = 0; c < columns; ++c)
          rows.values.push_back(static_cast<float>(100.0 * random.uniform()));
        const std::span<const float> values = rows.row(row);
        cycles += analytical::estimate_store(values, machine).total() * (values[2] > 50.0F ? 4.0 : 1.0) *
                  (1.0 + values[7] / 100.0);
      }
      all.push_back(std::move(rows));
      seconds.push_back(scale * cycles);
    }
    for (const FeatureRows& rows : all) pointers.push_back(&rows);
  }

  std::vector<xgboost::Sample> samples(size_t count, size_t task = 0) const {
    std::vector<xgboost::Sample> first;
    for (size_t i = 0; i < count; ++i) first.push_back({&all[i], seconds[i], task});
    return first;
  }
  std::vector<double> throughputs() const {
    std::vector<double> inverse;
    for (const double time : seconds) inverse.push_back(1.0 / time);
    return inverse;
  }

  std::vector<FeatureRows> all;
  std::vector<double> seconds;
  std::vector<const FeatureRows*> pointers;
};

}  // namespace tunesmith::test
