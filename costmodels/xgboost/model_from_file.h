// The option `model_file` of the cost models that learn: what was trained ahead.
#pragma once

#include <filesystem>
#include <string>

#include <tunesmith/plugin/options.h>
#include <tunesmith/search/cost_model.h>
#include <tunesmith/tune/model_file.h>

namespace tunesmith::xgboost {

/// Loads into `model`, of that kind, what the option names, if anything. UserError at the option's place.
inline void load_model_file(CostModel& model, const std::string& kind, const Options& options) {
  const std::string& name = options.get_string("model_file");
  if (name.empty()) return;
  const std::filesystem::path spaces = options.location("model_file").file;
  std::string fault;
  try {
    const ModelFile file = read_model_file(spaces.parent_path() / name);
    if (file.kind == kind) return model.load(file.learnt);
    fault = "it is what '" + file.kind + "' has learnt";
  } catch (const UserError& error) {
    fault = error.what();
  }
  options.fail("model_file", fault);
}

}  // namespace tunesmith::xgboost
