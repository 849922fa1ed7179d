// Wraps plugins' objects so that every call goes through the guard (plugin/guard.h).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tunesmith/plugin/kind.h"
#include "tunesmith/search/cost_model.h"
#include "tunesmith/search/searcher.h"
#include "tunesmith/search/task_scheduler.h"
#include "tunesmith/target/target.h"

namespace tunesmith {

/// Results of compilation are not checked further; LowerError is returned as the compiler's message.
std::shared_ptr<Target> watched(std::string id, std::shared_ptr<Target> target);
/// Null proposals, or more than requested, throw PluginError.
std::shared_ptr<Searcher> watched(std::string id, std::shared_ptr<Searcher> searcher);
/// begin(), update() and predict() throw PluginHang if they take too long, and are abandoned. The caller
/// checks the scores.
std::shared_ptr<CostModel> watched(std::string id, std::shared_ptr<CostModel> model);

/// Throws PluginError if the result is not an unfinished task.
std::shared_ptr<TaskScheduler> watched(std::string id, std::shared_ptr<TaskScheduler> scheduler);

/// Guards the plugin's steps of `pipeline`: those that are neither the kernel's nor in `before`.
Pipeline watched_steps(PluginKind kind, const std::string& id, const Pipeline& pipeline,
                       const Pipeline& before);

/// The columns that the extension adds to those `before`, with guarded
/// values: a value that is not finite throws PluginError, as do an invalid
/// or duplicate name, and a column without unit, meaning or value.
std::vector<AddedColumn> watched_columns(const std::string& id, std::vector<AddedColumn> columns,
                                         std::span<const FeatureColumn> before);

/// Throws PluginError if a quantity is not finite, or programs cannot be lowered for the options.
void check_description(PluginKind kind, const std::string& id, const DeviceModel& device,
                       const LowerOptions& options);

}  // namespace tunesmith
