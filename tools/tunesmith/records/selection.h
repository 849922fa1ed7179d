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

/// Their tasks, under whatever text: equal layers of a network are one.
std::vector<TaskKey> tasks_of(const std::string& workload, const RecordStore& store);

/// A workload's text as lists show it: of one without parameters, such as a network's task, with its shapes.
class ShownWorkloads {
 public:
  explicit ShownWorkloads(const RecordStore& store) : store_(store) {}
  /// "" if its text has parameters or its definition is unknown.
  const std::string& shapes(const Record& record);
  std::string text(const Record& record);

 private:
  const RecordStore& store_;
  std::map<std::pair<uint64_t, std::string>, std::string> shapes_;
};

}  // namespace tunesmith::cli
