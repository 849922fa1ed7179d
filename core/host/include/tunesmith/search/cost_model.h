// Cost models: the interface that a cost-model plugin implements.
//
// tunesmith/performance/features.h gives documented features for each store of a lowered program.
// A model that needs others computes them from Candidate::lowered.program: tunesmith/ir/visit.h
// walks its statements and expressions, tunesmith/lower/lower.h describes them.
//
// An interrupted run continues with a new object, which gets the
// whole history in one call. So the state after update() must depend
// only on the results and their order, not on the number of calls.
//
// The kernel compares the scores of each batch with the measured times before the model learns from it
// (tuner.h, ModelBatch). A model that returns a score that is not finite, orders three batches worse
// than chance, or hangs (PluginLimits) is reported and not used any more; the run continues without it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tunesmith/ir/execution_model.h"
#include "tunesmith/search/candidate.h"
#include "tunesmith/target/device_model.h"
#include "tunesmith/workload/workload.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// How much one feature contributes to what a model has learned.
struct FeatureImportance {
  std::string feature;  // the name of a column, or of a feature of the model
  double share = 0.0;   // of the total: all shares add up to 1
};

/// One object for a whole run; called by one thread at a time, not always
/// the same. predict() must not change the results of later calls.
class CostModel {
 public:
  virtual ~CostModel();
  /// Called once, first: the feature columns that the space's extensions add
  /// (feature_columns_with()). Without the call there are none. Throws UserError
  /// if a model file named in the options was learned from other columns.
  virtual void use_columns(std::span<const FeatureColumn> added);
  /// Called once, before begin(): levels and scopes of the machine, for
  /// models that analyse its threads. The reference outlives the model.
  virtual void use_execution(const ExecutionModel& execution);
  /// Called once for each tuned workload, after use_columns(), use_execution() and load(). The model keeps
  /// what it learned from earlier workloads.
  virtual void begin(const Workload& workload, const DeviceModel& device) = 0;
  /// Learns from the results since the last call, in the order of measurement;
  /// each program is passed once. A model copies what it needs (such as
  /// features) and does not keep the candidates: each holds its whole program.
  virtual void update(std::span<const Measured> results) = 0;
  /// One finite score for each, higher is better; only the order counts.
  virtual std::vector<double> predict(std::span<const CandidatePtr> candidates) = 0;
  /// The learned state as bytes: load() of another object with the same options makes it predict the same. ""
  /// if there is nothing to save, as by default.
  virtual std::string save() const;
  /// Throws UserError if save() did not write the bytes, or if their version is not supported any more.
  virtual void load(std::string_view saved);
  /// The features that the model uses, the most
  /// important first. Empty if unknown, as by default.
  virtual std::vector<FeatureImportance> importance() const;
};

}  // namespace tunesmith
#pragma GCC visibility pop
