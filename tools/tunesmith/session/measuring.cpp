#include "measuring.h"

#include <fmt/format.h>

#include <tunesmith/support/thread_pool.h>

namespace tunesmith::cli {

std::shared_ptr<MeasuringPlace> measuring_place(Session& session, const SpaceSpec& spec) {
  constexpr const char* kThisMachine = "local";
  const std::string& id = spec.runner.id.empty() ? kThisMachine : spec.runner.id;
  PluginRegistry& registry = session.registry();
  const std::vector<OptionSpec>& known = registry.option_specs(PluginKind::Runner, id, spec.runner.location);
  return registry.create<MeasuringPlace>(
      id,
      Options::validate(known, spec.runner.options, plugin_name(PluginKind::Runner, id),
                        spec.runner.location),
      spec.runner.location);
}

TargetPresence presence_for(const MeasuringPlace& place) {
  return place.here() ? TargetPresence::Required : TargetPresence::NotRequired;
}

Measuring::Measuring(std::shared_ptr<MeasuringPlace> place, const Session& session, const Space& space,
                     MeasureOptions options, std::string owner, std::function<void(const std::string&)> say)
    : place_(std::move(place)),
      worker_target_(session.worker_target()),
      space_(space),
      options_(std::move(options)),
      owner_(std::move(owner)),
      say_(std::move(say)),
      on_(place_->measured_on(space_, options_.threads)) {
  if (!here()) {
    options_.threads = on_.threads;
    return;
  }
  const auto processors = static_cast<int>(available_processors());
  if (options_.threads > processors && say_)
    say_(fmt::format("{} threads share {} {}: times are of programs that wait for each other",
                     options_.threads, processors, processors == 1 ? "processor" : "processors"));
}

std::unique_ptr<Runner> Measuring::runner(const Workload& workload) const {
  return place_->make_runner({workload, space_, worker_target_, options_, owner_, say_});
}

}  // namespace tunesmith::cli
