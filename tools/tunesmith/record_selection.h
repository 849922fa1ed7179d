// Which records a person asked for: by a workload's text, or by its name and some of its parameters.
#pragma once

#include <string>
#include <vector>

#include <tunesmith/records/record_store.h>

namespace tunesmith::cli {

/// One for each workload on record that was asked for; one of all where `workload` is empty. Throws UserError
/// for a workload that neither the store nor the library knows.
std::vector<RecordFilter> filters_of(const std::string& workload, const RecordStore& store);

/// Their tasks, under whatever text: equal layers of a network are one.
std::vector<TaskKey> tasks_of(const std::string& workload, const RecordStore& store);

}  // namespace tunesmith::cli
