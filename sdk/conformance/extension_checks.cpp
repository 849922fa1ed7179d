// Checks of extensions: they describe, adapt and probe correctly, also without the hardware.
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "checks.h"
#include "intrinsic_checks.h"
#include "numeric.h"
#include "tunesmith/performance/features.h"
#include "tunesmith/target/extension_file.h"

namespace tunesmith::conformance {
namespace of_extensions {
namespace {

/// The target that its space or its file names.
std::shared_ptr<Target> base_of(const Subject& subject) {
  SpaceSpec spec = subject.company();
  PluginRegistry& registry = subject.registry();
  const auto file = std::dynamic_pointer_cast<ExtensionFile>(subject.create<TargetExtension>());
  if (file != nullptr && file->target() != spec.target.id) spec.target = {file->target(), {}, {}, false};
  const auto& specs = registry.option_specs(PluginKind::Target, spec.target.id);
  return registry.create<Target>(
      spec.target.id,
      Options::validate(specs, spec.target.options, plugin_name(PluginKind::Target, spec.target.id)));
}

/// The probe names one feature; repeated describing and adapting
/// has no further effect, and the result is valid for lowering.
Verdict check_contract(const Subject& subject) {
  const auto extension = subject.create<TargetExtension>();
  const auto base = base_of(subject);
  const std::string missing = extension->probe(*base).missing;
  if (missing.find('\n') != std::string::npos) return failed("its probe's answer is not one line");
  DeviceModel device = base->device();
  extension->describe(device);
  for (const auto& [name, value] : device.all()) {
    if (!std::isfinite(value)) return failed(fmt::format("it sets the quantity {} to {}", name, value));
  }
  LowerOptions options = base->lower_options();
  extension->adapt(options);
  if (options.vector_bits < 8 || options.vector_bits % 8 != 0 || options.vector_registers < 1) {
    return failed(
        fmt::format("cannot lower for {} vectors of {} bits", options.vector_registers, options.vector_bits));
  }
  return passed();
}

Verdict check_determinism(const Subject& subject) {
  const auto base = base_of(subject);
  const auto first = subject.create<TargetExtension>();
  const auto second = subject.create<TargetExtension>();
  if (first->probe(*base).missing != second->probe(*base).missing)
    return failed("its probe changes its mind");
  DeviceModel a = base->device();
  DeviceModel b = base->device();
  first->describe(a);
  second->describe(b);
  if (a.all() != b.all()) return failed("two objects describe different machines");
  second->describe(b);
  if (a.all() != b.all()) return failed("describing a second time changes the description");
  return passed();
}

/// Programs lowered with its limits and steps compute the same as without.
Verdict check_legality(const Subject& subject) {
  const auto base = base_of(subject);
  LowerOptions options = base->lower_options();
  Pipeline pipeline = base->pipeline();
  const auto extension = subject.create<TargetExtension>();
  extension->adapt(options);
  extension->extend(pipeline);
  for (const Workload& workload : subject.workloads()) {
    const std::string fault =
        Numeric(workload.program).difference(lower(workload.program, options, pipeline));
    if (!fault.empty()) return failed(fmt::format("{}, lowered with it: {}", workload.name, fault));
  }
  return passed();
}

/// If the hardware is available, a space with it can be composed.
Verdict check_hardware(const Subject& subject) {
  const auto base = base_of(subject);
  if (const ProbeResult probe = base->probe(); !probe.here()) {
    return unsupported(
        fmt::format("this machine lacks {} for the target '{}'", probe.missing, subject.company().target.id));
  }
  if (const ProbeResult probe = subject.create<TargetExtension>()->probe(*base); !probe.here()) {
    return unsupported(fmt::format("this machine lacks {}", probe.missing));
  }
  const Space space(subject.company(), subject.registry());
  for (const RefusedIntrinsic& refused : space.refused_intrinsics()) {
    if (refused.extension == subject.info().id) return failed(refused.str());
  }
  for (const Workload& workload : subject.workloads()) static_cast<void>(space.generate(workload.program));
  return passed();
}

/// Feature columns are described, and their numbers are finite and depend only on the program.
Verdict check_features(const Subject& subject) {
  const auto base = base_of(subject);
  const auto extension = subject.create<TargetExtension>();
  const std::vector<AddedColumn> columns = extension->feature_columns();
  std::vector<FeatureColumn> known = feature_columns();
  for (const AddedColumn& added : columns) {
    if (std::string fault = column_fault(added.column, known); !fault.empty())
      return failed(std::move(fault));
    if (!added.value) return failed(fmt::format("the column '{}' has no value", added.column.name));
    known.push_back(added.column);
  }
  DeviceModel device = base->device();
  extension->describe(device);
  LowerOptions options = base->lower_options();
  Pipeline pipeline = base->pipeline();
  extension->adapt(options);
  extension->extend(pipeline);
  const std::vector<AddedColumn> again = subject.create<TargetExtension>()->feature_columns();
  if (!std::ranges::equal(columns, again, {}, &AddedColumn::column, &AddedColumn::column))
    return failed("two objects have different columns");
  bool bad = false;
  for (const Workload& workload : subject.workloads()) {
    const LoweredProgram lowered = lower(workload.program, options, pipeline);
    std::vector<AddedColumn> checked = columns;
    for (AddedColumn& added : checked) {
      added.value = [value = added.value, &bad](const FeatureStore& store) {
        const double number = value(store);
        bad = bad || !std::isfinite(number);
        return number;
      };
    }
    const FeatureRows rows = extract_features(lowered.program, device, checked);
    if (bad) return failed(fmt::format("{}: a column gives what is no finite number", workload.name));
    if (rows != extract_features(lowered.program, device, again))
      return failed(fmt::format("{}: one program has different numbers", workload.name));
  }
  return passed();
}

Verdict check_its_intrinsics(const Subject& subject) {
  return check_intrinsics(base_of(subject), *subject.create<TargetExtension>());
}

constexpr Check kChecks[] = {
    {"contract", "P27", &check_contract},         {"determinism", "P19", &check_determinism},
    {"legality", "P27", &check_legality},         {"features", "P27", &check_features},
    {"intrinsics", "P27", &check_its_intrinsics}, {"hardware", "P27", &check_hardware},
};

}  // namespace
}  // namespace of_extensions

std::span<const Check> extension_checks() { return of_extensions::kChecks; }

}  // namespace tunesmith::conformance
