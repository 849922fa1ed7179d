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

/// A task's programs that were measured on one machine, each once, in the order in which they were measured.
/// Their features are made.
struct MeasuredTask {
  Workload workload;
  DeviceModel device;
  std::vector<Measured> programs;
  int64_t rows = 0;  // of features
  int64_t lost = 0;  // programs on record that their traces do not give any more
};

/// All search measurements of the space's target in `stores` (as for database_path();
/// the default store if empty), with tasks in the order of insertion, without transient
/// failures and workloads without a definition. UserError if nothing is left.
std::vector<MeasuredTask> load_measured_tasks(std::vector<std::string> stores, const Space& space);

/// The programs of a table, made in its own space, with the cost
/// model's feature columns. Throws UserError for an invalid file.
MeasuredTask load_measured_table(const std::string& file, const SpaceSpec& search, PluginRegistry& registry);

/// Is `text` the workload's, or its name and some of its parameters?
bool is_named(const Workload& workload, const std::string& text);

}  // namespace tunesmith::cli
