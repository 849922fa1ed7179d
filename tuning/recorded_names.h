// The names that a task's traces have in a store.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "tunesmith/records/record_store.h"
#include "tunesmith/trace/trace.h"
#include "tunesmith/workload/workload.h"

namespace tunesmith {

/// Equal layers of a network are one task but may name arrays differently.
/// A run's traces use the names of the workload that was stored first;
/// merged records of other stores may use other names. Thread-safe.
class RecordedNames {
 public:
  /// Adds `workload` to the store if that does not have it. Both outlive this. Traces call `intrinsics` by
  /// name (Space::intrinsics()).
  RecordedNames(const Workload& workload, RecordStore& store,
                std::shared_ptr<const TensorIntrinsics> intrinsics);

  /// The text of this task's records for Record::workload.
  const std::string& workload() const { return first_ ? first_->key : workload_.key; }
  Trace recorded(const Trace& trace) const;
  /// The record's trace in the names of the run's workload; nothing if it cannot be read or replayed.
  std::optional<Trace> own(const Record& record) const;

 private:
  /// The workload of the record's text; null if its names are the usual ones.
  const Workload* workload_of(const Record& record) const;

  const Workload& workload_;
  const RecordStore& store_;
  std::shared_ptr<const TensorIntrinsics> intrinsics_;
  std::optional<Workload> first_;  // when its names are others
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::optional<Workload>> others_;  // by Record::workload, with first_'s names
};

}  // namespace tunesmith
