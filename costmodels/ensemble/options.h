#pragma once

#include <vector>

#include "../xgboost/settings.h"

namespace tunesmith::ensemble {

/// The options of the learned model and of the ensemble.
inline std::vector<OptionSpec> option_specs() {
  xgboost::Settings preset;
  preset.held_out = 0.15;
  std::vector<OptionSpec> specs = xgboost::option_specs(preset);
  specs.push_back(OptionSpec::integer(
      "window", 256, 16, 1 << 20, "programs, the latest, among which the two are compared with each other"));
  specs.push_back(OptionSpec::real("margin", 0.1, 1e-3, 1.0,
                                   "by which the learned one must order more pairs to be believed alone"));
  return specs;
}

}  // namespace tunesmith::ensemble
