// Cost models: the interface that a cost-model plugin implements.
//
// Features are read off Candidate::lowered.program: tunesmith/ir/visit.h walks its statements and
// expressions, tunesmith/lower/lower.h says what they look like.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "tunesmith/search/candidate.h"
#include "tunesmith/target/device_model.h"
#include "tunesmith/workload/workload.h"

namespace tunesmith {

/// One object for a whole run; called by one thread at a time. predict() must not change what later calls
/// answer.
class CostModel {
 public:
  virtual ~CostModel();
  /// Before anything else, once for each workload that is tuned.
  virtual void begin(const Workload& workload, const DeviceModel& device) = 0;
  /// Learns from measured candidates. `throughputs`: best seconds so far / seconds, in (0, 1]; failures are
  /// 0.
  virtual void update(std::span<const CandidatePtr> candidates, std::span<const double> throughputs) = 0;
  /// One score for each, higher is better; only the order counts. Finite.
  virtual std::vector<double> predict(std::span<const CandidatePtr> candidates) = 0;
};

}  // namespace tunesmith
