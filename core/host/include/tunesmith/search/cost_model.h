// Cost models: the interface that a cost-model plugin implements.
//
// tunesmith/performance/features.h gives documented numbers for each store of a lowered program. A model that
// wants others reads them off Candidate::lowered.program: tunesmith/ir/visit.h walks its statements and
// expressions, tunesmith/lower/lower.h says what they look like.
//
// A run that was interrupted continues with a new object, which gets the whole history in one call. So what
// update() leaves behind must follow from what it was told, in that order, and not from how often it was
// called.
//
// Before a batch is learned the kernel holds the model's scores against what was measured (tuner.h,
// ModelBatch). A model that answers what is no number, orders three batches worse than chance, or hangs in
// begin(), update() or predict() (PluginLimits) is named and not asked again; the run continues without it.
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

/// How much of what a model has learned comes from one number that it reads.
struct FeatureImportance {
  std::string feature;  // the name of a column, or one of the model's own
  double share = 0.0;   // of all: they add up to 1
};

/// One object for a whole run; called by one thread at a time, not always the same. predict() must not change
/// what later calls answer.
class CostModel {
 public:
  virtual ~CostModel();
  /// Once, before anything else: the columns of features that the space's extensions add
  /// (feature_columns_with()). A model that is not told has none of them. Throws UserError when what its
  /// options name was learned from others.
  virtual void use_columns(std::span<const FeatureColumn> added);
  /// Once, before begin(): levels and scopes of the machine, for models that look at what its threads do. It
  /// outlives the model.
  virtual void use_execution(const ExecutionModel& execution);
  /// Before anything else but use_columns(), use_execution() and load(), once for each workload that is
  /// tuned. What was learned of those before is kept.
  virtual void begin(const Workload& workload, const DeviceModel& device) = 0;
  /// Learns from what was measured of the workload since the last call, in the order in which it was
  /// measured: each program is told once. A model keeps what it needs of the candidates, such as their
  /// features, and not the candidates: each of these holds its whole program.
  virtual void update(std::span<const Measured> results) = 0;
  /// One score for each, higher is better; only the order counts. Finite.
  virtual std::vector<double> predict(std::span<const CandidatePtr> candidates) = 0;
  /// What has been learned, as bytes for load() of another object with the same options, which then predicts
  /// the same; "" when there is nothing to keep, which is so unless the model says otherwise.
  virtual std::string save() const;
  /// Throws UserError when the bytes are not what save() made, or of a version that is not read any more.
  virtual void load(std::string_view saved);
  /// What it goes by, the most important first. Empty when it cannot say, which is so unless it says
  /// otherwise.
  virtual std::vector<FeatureImportance> importance() const;
};

}  // namespace tunesmith
#pragma GCC visibility pop
