#include "subject.h"

#include <algorithm>

#include <fmt/format.h>

#include "tunesmith/target/extension_file.h"

namespace tunesmith::conformance {
namespace {

/// A reduction with reuse, one without, several stages, padding, elementwise work, integers; small enough to
/// interpret.
constexpr std::array kWorkloads = {
    "gmm:n=8,m=12,k=16",  "conv2d:h=6,w=5,ci=3,co=4",     "softmax:m=5,n=12",      "relu:n=6,m=16",
    "reduce_sum_1d:n=96", "dense_bias_gelu:n=4,m=6,k=10", "max_pool2d:h=6,w=6,c=4"};

bool names(const SpaceSpec& spec, PluginKind kind, const std::string& id) {
  const auto is = [&](const PluginUse& use) { return use.id == id; };
  switch (kind) {
    case PluginKind::Module:
      return std::ranges::any_of(spec.modules, is);
    case PluginKind::Extension:
      return std::ranges::any_of(spec.extensions, is);
    case PluginKind::Searcher:
      return std::ranges::any_of(spec.search,
                                 [&](const SpaceSpec::Stage& stage) { return is(stage.searcher); });
    case PluginKind::CostModel:
      return is(spec.cost_model);
    case PluginKind::TaskScheduler:
      return is(spec.task_scheduler);
    case PluginKind::Target:
      return is(spec.target);
    case PluginKind::Runner:
      return is(spec.runner);
    case PluginKind::Importer:  // an importer belongs to no space
      return false;
  }
  return false;
}

void put_into(SpaceSpec& spec, PluginKind kind, const PluginUse& use) {
  switch (kind) {
    case PluginKind::Module:
      spec.modules.insert(spec.modules.begin(), use);
      return;
    case PluginKind::Extension:
      spec.extensions.push_back(use);
      return;
    case PluginKind::Searcher:
      spec.search = {{use, 0}};
      return;
    case PluginKind::CostModel:
      spec.cost_model = use;
      return;
    case PluginKind::TaskScheduler:
      spec.task_scheduler = use;
      return;
    case PluginKind::Target:
      spec.target = use;
      spec.extensions.clear();
      return;
    case PluginKind::Runner:
      spec.runner = use;
      return;
    case PluginKind::Importer:
      return;
  }
}

SpaceSpec company_of(const PluginInfo& info, const SpacesFile& spaces) {
  for (const std::string& name : spaces.names()) {
    if (names(spaces.space(name), info.kind, info.id)) return spaces.space(name);
  }
  SpaceSpec spec = spaces.space("");
  const PluginUse use{info.id, {}, {}, false};
  put_into(spec, info.kind, use);
  for (const std::string& needed : info.needs) {
    const size_t colon = needed.find(':');
    const PluginKind kind = *kind_from_name(needed.substr(0, colon));
    if (!names(spec, kind, needed.substr(colon + 1)))
      put_into(spec, kind, {needed.substr(colon + 1), {}, {}, false});
  }
  return spec;
}

}  // namespace

Subject::Subject(PluginRegistry& registry, PluginInfo info, const SpacesFile& spaces,
                 const VerifyOptions& options)
    : registry_(registry), info_(std::move(info)), company_(company_of(info_, spaces)) {
  const WorkloadLibrary library;
  for (const char* text : kWorkloads) workloads_.push_back(library.load(text));
  for (const std::string& text : options.workloads) workloads_.push_back(library.load(text));
}

Verdict Subject::hardware_of_company() const {
  const auto make = [&]<typename Interface>(const PluginUse& use) {
    const PluginKind kind = kKindOf<Interface>;
    return registry_.create<Interface>(
        use.id, Options::validate(registry_.option_specs(kind, use.id, use.location), use.options,
                                  plugin_name(kind, use.id), use.location));
  };
  const auto target = make.operator()<Target>(company_.target);
  if (const ProbeResult probe = target->probe(); !probe.here())
    return unsupported(
        fmt::format("this machine lacks {} for target '{}'", probe.missing, company_.target.id));
  for (const PluginUse& use : company_.extensions) {
    if (use.optional) continue;
    const std::filesystem::path file = use.extension_path();
    const std::shared_ptr<TargetExtension> extension =
        file.empty() ? make.operator()<TargetExtension>(use) : ExtensionFile::load(file);
    if (const ProbeResult probe = extension->probe(*target); !probe.here())
      return unsupported(fmt::format("this machine lacks {} for extension '{}'", probe.missing, use.id));
  }
  return passed();
}

SpaceSpec Subject::alone() const {
  SpaceSpec spec = company_;
  std::erase_if(spec.modules, [&](const PluginUse& use) { return use.id != info_.id; });
  return spec;
}

}  // namespace tunesmith::conformance
