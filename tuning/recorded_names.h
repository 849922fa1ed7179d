// The names that a task's traces have in a store.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "tunesmith/records/record_store.h"
#include "tunesmith/trace/trace.h"
#include "tunesmith/workload/workload.h"

namespace tunesmith {

/// Equal layers of a network are one task, and each may call its arrays otherwise. All traces of a task are
/// kept in the names of the workload that came to the store first. Immutable; any thread.
class RecordedNames {
 public:
  /// Adds `workload` to the store if that does not have it. Traces call `intrinsics` by name
  /// (Space::intrinsics()).
  RecordedNames(const Workload& workload, RecordStore& store,
                std::shared_ptr<const TensorIntrinsics> intrinsics);

  /// Record::workload of this task's records.
  const std::string& workload() const { return first_ ? first_->key : workload_.key; }
  Trace recorded(const Trace& trace) const;
  /// Nothing when the trace does not replay.
  std::optional<Trace> own(const Trace& recorded) const;

 private:
  const Workload& workload_;
  std::shared_ptr<const TensorIntrinsics> intrinsics_;
  std::optional<Workload> first_;  // when its names are others
};

}  // namespace tunesmith
