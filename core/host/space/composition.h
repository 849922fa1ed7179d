// The contents of a Space, and the only place that calls modules.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tunesmith/plugin/registry.h"
#include "tunesmith/space/space.h"
#include "tunesmith/target/target_identity.h"

namespace tunesmith {

/// The available extensions by name, with the intrinsics that each adds to the target.
using Extensions = std::map<std::string, std::vector<TensorIntrinsicPtr>, std::less<>>;

/// A module in use.
struct ComposedModule {
  std::string id;
  std::shared_ptr<TransformationModule> module;
  ModuleStage stage = ModuleStage::Block;
  PluginUse use = {};
  Options options = {};
  ModuleDescription description = {};
};

struct Space::State {
  class Builder;  // compose.cpp

  SpaceSpec spec;
  PluginRegistry* registry = nullptr;
  std::shared_ptr<Target> target;
  std::vector<std::shared_ptr<TargetExtension>> extensions;
  Extensions intrinsics;                                   // of those, without refused ones
  std::shared_ptr<const TensorIntrinsics> all_intrinsics;  // of all in the description, available or not
  std::vector<RefusedIntrinsic> refused;
  std::vector<AbsentExtension> absent;
  std::vector<UnconsumedAnnotation> unconsumed;
  DeviceModel device;
  std::vector<FeatureColumn> columns;                             // of added_columns
  std::shared_ptr<const std::vector<AddedColumn>> added_columns;  // null: none
  LowerOptions lower_options;
  Pipeline pipeline = standard_pipeline();
  std::vector<ComposedModule> modules;
  std::vector<Options> searcher_options;
  Options cost_model_options;
  Options task_scheduler_options;
  TargetIdentity task_target;
  std::string rules;
  std::string search_text;
  std::string cost_model_text;
  std::map<std::string, std::string> plugin_versions;
};

/// A block that a module keeps for itself.
struct Claim {
  std::string module;
  std::string why;
};
using Claims = std::map<std::string, Claim, std::less<>>;

/// "split: the product of the factors is less than the extent": a constant sentence, for counting.
std::string refusal_text(const ScheduleError& refusal);

/// A module's inputs besides its schedule.
struct ModuleInputs {
  const DeviceModel& device;
  const ExecutionModel& execution;
  const Extensions& extensions;
  const Program& original;
};

/// Calls one module on a copy of `input`; no other code calls modules. Classifies exceptions
/// and compares the result with a replay. `block` is empty for the root. The unexpected value
/// is a refusal that left the module. Throws PluginError if the module broke its contract.
tl::expected<ModuleResult, ScheduleError> apply_module(const ComposedModule& module, const Schedule& input,
                                                       const std::string& block, const ModuleInputs& inputs,
                                                       Claims& claims);

}  // namespace tunesmith
