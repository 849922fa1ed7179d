// The objects that searchers and cost models handle: candidates, results, random streams, the machine.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <tunesmith/search/candidate.h>
#include <tunesmith/support/random.h>
#include <tunesmith/target/device_model.h>

#include "refs.h"

namespace tunesmith::python {

struct CandidateRef {
  CandidatePtr value;
  WorkloadPtr workload;              // null: unknown
  std::shared_ptr<HeldSpace> space;  // null: unknown
  IntrinsicsPtr intrinsics;          // of the space; null: those of the process
};

struct MeasuredRef {
  Measured value;
  IntrinsicsPtr intrinsics;
};
ListOf<MeasuredRef> measured_of(std::span<const Measured> results, const IntrinsicsPtr& intrinsics);

struct DeviceRef {
  std::shared_ptr<const DeviceModel> value;
};

void bind_candidate(nb::module_& module);

}  // namespace tunesmith::python
