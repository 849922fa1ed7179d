// Selects records by a workload's text, or by its name and some parameters.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <tunesmith/records/record_store.h>

namespace tunesmith::cli {

/// One filter for each requested workload on record; one for all if `workload` is
/// empty. Throws UserError for a workload that neither the store nor the library knows.
std::vector<RecordFilter> filters_of(const std::string& workload, const RecordStore& store);

/// The tasks of all texts that match: equal layers of a network are one task.
std::vector<TaskKey> tasks_of(const std::string& workload, const RecordStore& store);

/// Shows a workload's text in lists; adds shapes to a text without parameters, such as that of a network's
/// task.
class ShownWorkloads {
 public:
  explicit ShownWorkloads(const RecordStore& store) : store_(store) {}
  /// "" if the text has parameters or the definition is unknown.
  const std::string& shapes(const Record& record);
  std::string text(const Record& record);

 private:
  const RecordStore& store_;
  std::map<std::pair<uint64_t, std::string>, std::string> shapes_;
};

}  // namespace tunesmith::cli
