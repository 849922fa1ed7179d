#include "tunesmith/measuring/machine_elsewhere.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "tunesmith/support/error.h"
#include "tunesmith/target/extension_file.h"

namespace tunesmith {
namespace {

/// Stands for the target of another machine. What that machine's description lacks is this machine's.
class TargetElsewhere final : public Target {
 public:
  TargetElsewhere(const WorkerDescription& machine, std::shared_ptr<const Space> own)
      : identity_(TargetIdentity::parse(machine.target)),
        own_(std::move(own)),
        limits_(own_->target().lower_options()) {
    for (const auto& [name, value] : machine.quantities) device_.set(name, value);
    device_.description = machine.machine;
    const MachineLimits& stated = machine.limits;
    limits_.vector_bits = stated.vector_bits;
    limits_.vector_registers = stated.vector_registers;
    limits_.max_stack_bytes = stated.max_stack_bytes;
    limits_.max_expanded_stores = stated.max_expanded_stores;
    limits_.prepare = stated.prepare;
    limits_.parameters = stated.parameters;
  }

  ProbeResult probe() const override { return {}; }
  const DeviceModel& device() const override { return device_; }
  const ExecutionModel& execution() const override { return own().execution(); }
  std::string identity() const override { return identity_.target; }
  std::string fingerprint() const override { return identity_.generator; }
  LowerOptions lower_options() const override { return limits_; }
  Pipeline pipeline() const override { return own().pipeline(); }
  std::vector<std::string> consumes() const override { return own().consumes(); }
  bool can_prepare() const override { return limits_.prepare; }
  /// Only extensions that the machine has ask, and they run there.
  bool has_feature(std::string_view /*name*/) const override { return true; }
  SeparateDevice* separate_device() override { return own().separate_device(); }

  tl::expected<CompiledKernel, std::string> compile(const LoweredProgram& /*lowered*/,
                                                    const std::string& /*symbol*/) override {
    refuse();
  }
  std::unique_ptr<LoadedKernel> load(const CompiledKernel& /*kernel*/) override { refuse(); }
  std::string assembly(const LoweredProgram& /*lowered*/, const std::string& /*symbol*/) override {
    refuse();
  }

 private:
  Target& own() const { return own_->target(); }
  [[noreturn]] void refuse() const {
    throw EnvironmentError(
        fmt::format("programs for '{}' are compiled on the machine that runs them", identity_.target));
  }

  const TargetIdentity identity_;
  const std::shared_ptr<const Space> own_;
  LowerOptions limits_;
  DeviceModel device_;
};

std::string name_of(const PluginUse& use) {
  const std::filesystem::path file = use.extension_path();
  return file.empty() ? use.id : ExtensionFile::load(file, use.location)->name();
}

/// The extensions of `spec` that the machine has. The space requires each of them.
std::vector<PluginUse> extensions_of(const WorkerDescription& machine, const SpaceSpec& spec) {
  const auto there =
      TargetIdentity::parse(machine.target).extensions.value_or(std::vector<ExtensionIdentity>{});
  std::vector<PluginUse> used;
  for (const PluginUse& use : spec.extensions) {
    if (std::ranges::count(there, name_of(use), &ExtensionIdentity::name) > 0) {
      used.push_back(use);
      used.back().optional = false;
    } else if (!use.optional) {
      throw EnvironmentError(fmt::format(
          "{}: extension '{}' cannot be used on the machine {}; write '{}?' to use it only where available",
          use.location.str(), use.id, machine.machine, use.id));
    }
  }
  return used;
}

}  // namespace

std::unique_ptr<Space> space_for(const WorkerDescription& machine, const SpaceSpec& spec,
                                 PluginRegistry& registry, std::shared_ptr<const Space> own) {
  SpaceSpec there = spec;
  there.extensions = extensions_of(machine, spec);
  auto space =
      std::make_unique<Space>(there, registry, std::make_shared<TargetElsewhere>(machine, std::move(own)));
  if (const std::string composed = space->task_target().str(); composed != machine.target)
    throw EnvironmentError(
        fmt::format("programs for the machine '{}' have target '{}', but this machine generates '{}'; "
                    "remedy: install the same version and packs on both",
                    machine.machine, machine.target, composed));
  return space;
}

}  // namespace tunesmith
