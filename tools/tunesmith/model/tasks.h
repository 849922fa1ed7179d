// Measured programs from stores and recorded tables, as input of cost models.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tunesmith/plugin/registry.h>
#include <tunesmith/search/candidate.h>
#include <tunesmith/space/space.h>
#include <tunesmith/workload/workload.h>

namespace tunesmith::cli {

/// A task's programs measured on one machine, each once, in the order of measuring, with their features.
struct MeasuredTask {
  Workload workload;
  DeviceModel device;
  std::vector<Measured> programs;
  int64_t rows = 0;  // rows of features
  int64_t lost = 0;  // recorded programs that their traces no longer give
};

/// All search measurements of the space's target in `stores` (as for database_path(); the default store if
/// empty), with tasks in the order of insertion. Leaves out transient failures and workloads without a
/// definition. Throws UserError if nothing is left.
std::vector<MeasuredTask> load_measured_tasks(std::vector<std::string> stores, const Space& space);

/// The programs of a table, made in its own space, with the cost
/// model's feature columns. Throws UserError for an invalid file.
MeasuredTask load_measured_table(const std::string& file, const SpaceSpec& search, PluginRegistry& registry);

/// Does `text` equal the workload's text, or name it with some of its parameters?
bool is_named(const Workload& workload, const std::string& text);

}  // namespace tunesmith::cli
