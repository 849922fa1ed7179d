#include "measuring.h"

#include <fmt/format.h>

#include <tunesmith/measuring/machine_elsewhere.h>
#include <tunesmith/plugin/error.h>
#include <tunesmith/plugin/guard.h>
#include <tunesmith/support/thread_pool.h>

namespace tunesmith::cli {
namespace {

/// Passes on the errors that a runner may throw; reports any other exception as the plugin's fault.
template <typename Call>
decltype(auto) naming(const std::string& id, std::string_view what, const Call& call) {
  try {
    return call();
  } catch (const Error&) {
    throw;
  } catch (...) {  // plugins may throw anything; it is rethrown as a std::exception
    rethrow_plugin_failure(PluginKind::Runner, id, what, std::current_exception());
  }
}

class NamedRunner final : public Runner {
 public:
  NamedRunner(std::string id, std::unique_ptr<Runner> runner)
      : id_(std::move(id)), runner_(std::move(runner)) {}

  std::vector<MeasureResult> run(std::span<const MeasureRequest> requests) override {
    return naming(id_, "run", [&] {
      std::vector<MeasureResult> results = runner_->run(requests);
      if (results.size() != requests.size())
        throw PluginError(
            PluginKind::Runner, id_,
            fmt::format("[P31] it answered {} of {} requests", results.size(), requests.size()));
      return results;
    });
  }
  std::vector<InterleavedTimes> interleave(std::span<const CompiledKernel* const> kernels,
                                           const InterleaveOptions& options) override {
    return naming(id_, "interleave", [&] { return runner_->interleave(kernels, options); });
  }
  std::vector<std::string> not_exercised() const override {
    return naming(id_, "not_exercised", [&] { return runner_->not_exercised(); });
  }
  std::optional<CompiledKernel> as_candidate(const Trace& trace, uint64_t lowered_hash) const override {
    return naming(id_, "as_candidate", [&] { return runner_->as_candidate(trace, lowered_hash); });
  }
  size_t at_once() const override {
    return naming(id_, "at_once", [&] { return runner_->at_once(); });
  }

 private:
  const std::string id_;
  const std::unique_ptr<Runner> runner_;
};

/// The space's runner, or that of this machine if it names none.
const std::string& runner_id(const SpaceSpec& spec) {
  static const std::string kThisMachine = "local";
  return spec.runner.id.empty() ? kThisMachine : spec.runner.id;
}

}  // namespace

std::shared_ptr<MeasuringPlace> measuring_place(Session& session, const SpaceSpec& spec) {
  const std::string& id = runner_id(spec);
  PluginRegistry& registry = session.registry();
  const std::vector<OptionSpec>& known = registry.option_specs(PluginKind::Runner, id, spec.runner.location);
  return registry.create<MeasuringPlace>(
      id,
      Options::validate(known, spec.runner.options, plugin_name(PluginKind::Runner, id),
                        spec.runner.location),
      spec.runner.location);
}

std::shared_ptr<const Space> measured_space(Session& session, const SpaceSpec& spec, MeasuringPlace& place,
                                            int threads) {
  PluginRegistry& registry = session.registry();
  if (place.here()) return std::make_shared<const Space>(spec, registry);
  SpaceSpec own = spec;  // this machine may lack some extensions of the space
  for (PluginUse& extension : own.extensions) extension.optional = true;
  auto space = std::make_shared<const Space>(own, registry, TargetPresence::NotRequired);
  const MeasuredOn on =
      naming(runner_id(spec), "measured_on", [&] { return place.measured_on(*space, threads); });
  if (on.machine) return space_for(*on.machine, spec, registry, space);
  return std::make_shared<const Space>(spec, registry, TargetPresence::NotRequired);
}

Measuring::Measuring(std::shared_ptr<MeasuringPlace> place, const Session& session, const Space& space,
                     MeasureOptions options, std::string owner, std::function<void(const std::string&)> say)
    : place_(std::move(place)),
      worker_target_(session.worker_target()),
      space_(space),
      options_(std::move(options)),
      owner_(std::move(owner)),
      say_(std::move(say)),
      on_(naming(runner_id(space.spec()), "measured_on",
                 [&] { return place_->measured_on(space_, options_.threads); })) {
  if (!here()) {
    options_.threads = on_.threads;
    return;
  }
  const auto processors = static_cast<int>(available_processors());
  if (options_.threads > processors && say_)
    say_(fmt::format("{} threads share {} {}: times include waiting for each other", options_.threads,
                     processors, processors == 1 ? "processor" : "processors"));
}

size_t Measuring::rounds_at_once() const {
  return naming(runner_id(space_.spec()), "rounds_at_once", [&] { return place_->rounds_at_once(); });
}

std::unique_ptr<Runner> Measuring::runner(const Workload& workload) const {
  const std::string& id = runner_id(space_.spec());
  return std::make_unique<NamedRunner>(
      id, naming(id, "make_runner", [&] {
        return place_->make_runner({workload, space_, worker_target_, options_, owner_, say_});
      }));
}

}  // namespace tunesmith::cli
