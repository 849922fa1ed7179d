#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "errors.h"
#include "memory.h"
#include "say.h"
#include "tune.h"

namespace tunesmith::python {
namespace {

/// Composes a new space if the arguments name another search, or programs run on another machine; else null.
std::shared_ptr<const Space> searched_as_asked(HeldSpace& held, const cli::TuneArguments& arguments,
                                               MeasuringPlace& place) {
  const SpaceSpec spec = cli::searched_as_asked(held.session, arguments);
  if (!place.here()) return cli::measured_space(held.session, spec, place, arguments.threads);
  if (arguments.search.empty() && arguments.model.empty() && arguments.scheduler.empty() &&
      arguments.runner.empty())
    return nullptr;
  return std::make_shared<const Space>(spec, held.session.registry(), TargetPresence::NotRequired);
}

TuneOptions options_of(const cli::TuneArguments& arguments, const cli::Measuring& measuring, bool limited) {
  cli::Common common;
  common.command_line = "python";
  TuneOptions options = cli::tune_options(common, arguments, measuring);
  if (arguments.batch > 0) options.batch = arguments.batch;
  if (arguments.trials > 0) options.trials = arguments.trials;
  if (!limited) options.trials = kNoLimit;
  options.time_limit_seconds = cli::seconds_limit(arguments);
  options.min_gain = cli::min_gain(arguments, 1);
  return options;
}

/// Removes the keyword `name` from `rest`. False if it is missing or None.
template <typename T>
bool take(nb::dict& rest, const char* name, T& value) {
  if (!rest.contains(name)) return false;
  const nb::object given = nb::handle(rest).attr("pop")(name);
  if (given.is_none()) return false;
  if (!nb::try_cast(given, value))
    throw UserError(fmt::format("{}: '{}' cannot be one", name, nb::cast<std::string>(nb::repr(given))));
  return true;
}

template <typename T>
void take_above_zero(nb::dict& rest, const char* name, T& value) {
  if (take(rest, name, value) && !(value > T{}))
    throw UserError(fmt::format("{}: expected a number above 0, not {}", name, value),
                    "leave it out, or give None, for the usual");
}

template <typename T>
bool take_not_negative(nb::dict& rest, const char* name, T& value) {
  const bool given = take(rest, name, value);
  if (given && !(value >= T{}))
    throw UserError(fmt::format("{}: expected a number of 0 or more, not {}", name, value));
  return given;
}

}  // namespace

Setup::Setup(std::shared_ptr<HeldSpace> held, WorkloadPtr workload, const cli::TuneArguments& arguments,
             const std::atomic<bool>& stop)
    : held_(std::move(held)),
      workload_(std::move(workload)),
      place_(cli::measuring_place(held_->session, cli::searched_as_asked(held_->session, arguments))),
      own_(searched_as_asked(*held_, arguments, *place_)),
      store_(cli::open_records(arguments.database)),
      measuring_(place_, held_->session, space(), cli::measure_options(arguments, stop, cli::say),
                 cli::database_path(arguments.database), cli::say),
      runner_(measuring_.runner(*workload_)),
      limited_(arguments.trials > 0 || cli::seconds_limit(arguments) <= 0.0),
      options_(options_of(arguments, measuring_, limited_)) {
  if (const ProbeResult probe = space().target().probe(); measuring_.here() && !probe.here())
    throw EnvironmentError(fmt::format("programs of space '{}' cannot run here: this machine lacks {}",
                                       space().spec().name, probe.missing));
  cli::require_memory(*workload_, arguments.allow_memory);
}

double Setup::peak() {
  if (!measuring_.here()) return 0.0;
  return cli::Peaks(space(), measuring_.options(), measuring_.threads(), store_, environment())
      .of(*workload_);
}

cli::TuneArguments arguments_from(const nb::kwargs& keywords) {
  cli::TuneArguments arguments;
  nb::dict rest = nb::cast<nb::dict>(nb::handle(keywords).attr("copy")());
  // As in the command: zero does not mean the default.
  take_above_zero(rest, "trials", arguments.trials);
  take_above_zero(rest, "minutes", arguments.minutes);
  take_above_zero(rest, "batch", arguments.batch);
  take_not_negative(rest, "draws", arguments.first_draws);
  take_above_zero(rest, "candidate_time_out", arguments.candidate_time_out);
  take_not_negative(rest, "threads", arguments.threads);
  if (double gain = 0.0; take_not_negative(rest, "min_gain", gain)) arguments.min_gain = gain;
  take(rest, "seed", arguments.seed);
  take(rest, "scheduler", arguments.scheduler);
  take(rest, "goal", arguments.goal);
  take(rest, "search", arguments.search);
  take(rest, "model", arguments.model);
  take(rest, "runner", arguments.runner);
  take(rest, "model_file", arguments.model_file);

  take(rest, "fresh", arguments.fresh);
  take(rest, "allow_memory", arguments.allow_memory);
  if (rest.contains("records")) {
    const nb::object given = nb::handle(rest).attr("pop")("records");
    const nb::object path = nb::hasattr(given, "path") ? nb::object(given.attr("path")) : given;
    if (!path.is_none()) arguments.database = path_from(path);
  }
  if (!arguments.goal.empty() && arguments.goal != "total" && arguments.goal != "geomean")
    throw UserError(fmt::format("goal: expected 'total' or 'geomean', not '{}'", arguments.goal));
  for (const auto& [name, value] : rest) {
    static const std::vector<std::string> g_known = {
        "trials",       "minutes", "seed",       "threads",   "batch",  "goal",  "min_gain",
        "search",       "model",   "model_file", "scheduler", "runner", "fresh", "candidate_time_out",
        "allow_memory", "records", "draws"};
    const std::string text = nb::cast<std::string>(name);
    throw UserError(fmt::format("unknown argument '{}'", text), suggest(text, g_known));
  }
  return arguments;
}

}  // namespace tunesmith::python
