// What a Space holds, and the one place from which modules are called.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tunesmith/plugin/registry.h"
#include "tunesmith/space/space.h"

namespace tunesmith {

/// A module in use.
struct ComposedModule {
  std::string id;
  std::shared_ptr<TransformationModule> module;
  ModuleStage stage = ModuleStage::Block;
};

struct Space::State {
  SpaceSpec spec;
  PluginRegistry* registry = nullptr;
  std::shared_ptr<Target> target;
  std::vector<std::shared_ptr<TargetExtension>> extensions;
  DeviceModel device;
  LowerOptions lower_options;
  Pipeline pipeline = standard_pipeline();
  std::vector<ComposedModule> modules;
  std::vector<Options> searcher_options;
  Options cost_model_options;
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

/// Calls one module, and is the only place that does: what it throws is sorted, what it answers is verified.
/// `block` is empty for the root. The unexpected value is the refusal that left the module. Throws
/// PluginError when the module broke its contract.
tl::expected<ModuleResult, ScheduleError> apply_module(const ComposedModule& module, Schedule schedule,
                                                       const std::string& block, const DeviceModel& device,
                                                       const Program& original, Claims& claims);

}  // namespace tunesmith
