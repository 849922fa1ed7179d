// The option `model_file` of cost models that learn: a pre-trained model.
#pragma once

#include <filesystem>
#include <string>
#include <utility>

#include <tunesmith/plugin/options.h>
#include <tunesmith/search/cost_model.h>
#include <tunesmith/search/model_file.h>

namespace tunesmith::xgboost {

/// Reads the model file once the feature columns are known: the model must have been trained on these
/// columns.
class ModelFromFile {
 public:
  ModelFromFile(std::string kind, const Options& options)
      : kind_(std::move(kind)), options_(options), name_(options.get_string("model_file")) {}

  /// The first call loads the file, if the option names one, into `model`. Throws UserError at the option's
  /// location.
  void load_into(CostModel& model) {
    if (std::exchange(done_, true) || name_.empty()) return;
    const std::filesystem::path spaces = options_.location("model_file").file;
    std::string fault;
    try {
      const ModelFile file = read_model_file(spaces.parent_path() / name_);
      if (file.kind == kind_) return model.load(file.learned);
      fault = "it is what '" + file.kind + "' has learned";
    } catch (const UserError& error) {
      fault = error.what();
    }
    options_.fail("model_file", fault);
  }

 private:
  std::string kind_;
  Options options_;
  std::string name_;
  bool done_ = false;
};

}  // namespace tunesmith::xgboost
