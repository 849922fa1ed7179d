#include "tune_setup.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include <tunesmith/support/files.h>

#include "memory.h"
#include "say.h"

namespace tunesmith::cli {
namespace {

constexpr int64_t kUsualBatch = 16;     // default for many tasks
constexpr int64_t kUsualTrials = 64;    // default, per task
constexpr double kUsualMinGain = 5e-4;  // default, as a share of a task's even share of the goal

SourceLocation option_place(const char* option) { return SourceLocation{option}; }

/// The space's own use of the plugin if it names it, else one without options, located at the option.
PluginUse use_of(const std::string& id, const PluginUse& own, const char* option) {
  if (own.id == id) return own;
  return {id, option_place(option), {}, false};
}

/// The position of the trials in "evolutionary:32" or "mine.py:Mine:32".
size_t colon_before_trials(const std::string& member) {
  const size_t script = member.find(".py:");
  return member.find(':', script == std::string::npos ? 0 : script + 4);
}

/// Parses "random:32,evolutionary": a chain in which all but the last have a number of trials.
std::vector<SpaceSpec::Stage> stages_of(const std::string& text, const SpaceSpec& spec) {
  constexpr const char* kOption = "--search";
  std::vector<SpaceSpec::Stage> stages;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t comma = std::min(text.find(',', begin), text.size());
    const std::string member = text.substr(begin, comma - begin);
    const size_t colon = colon_before_trials(member);
    const std::string id = member.substr(0, colon);
    SpaceSpec::Stage stage{{id, option_place(kOption), {}, false}, 0};
    for (const SpaceSpec::Stage& own : spec.search) {
      if (own.searcher.id == id) stage.searcher = own.searcher;
    }
    if (colon != std::string::npos) {
      const char* const end = member.data() + member.size();
      const auto [rest, error] = std::from_chars(member.data() + colon + 1, end, stage.trials);
      if (error != std::errc() || rest != end || stage.trials < 1)
        throw UserError(option_place(kOption),
                        fmt::format("'{}' is not a number of trials", member.substr(colon + 1)),
                        "expected trials after a searcher, as in evolutionary:192");
    } else if (comma < text.size()) {
      throw UserError(option_place(kOption),
                      fmt::format("'{}' has no limit, so the searchers after it would get no trials", member),
                      fmt::format("give its number of trials, as in {}:192", member));
    }
    stages.push_back(std::move(stage));
    begin = comma + 1;
  }
  return stages;
}

}  // namespace

SpaceSpec searched_as_asked(const Session& session, const TuneArguments& arguments) {
  SpaceSpec spec = session.spec();
  if (spec.task_scheduler.id.empty()) spec.task_scheduler = session.usual_task_scheduler();
  if (!arguments.search.empty()) spec.search = stages_of(arguments.search, spec);
  if (!arguments.model.empty()) spec.cost_model = use_of(arguments.model, spec.cost_model, "--model");
  if (!arguments.scheduler.empty())
    spec.task_scheduler = use_of(arguments.scheduler, spec.task_scheduler, "--scheduler");
  if (!arguments.runner.empty()) spec.runner = use_of(arguments.runner, spec.runner, "--runner");
  return spec;
}

MeasureOptions measure_options(const TuneArguments& arguments, const std::atomic<bool>& stop,
                               const std::function<void(const std::string&)>& say) {
  MeasureOptions measure;
  measure.threads = arguments.threads;
  measure.time_out_seconds = arguments.candidate_time_out;
  measure.stop = &stop;
  measure.machine = std::make_shared<MachineLock>(MachineLock::default_file(), say);
  return measure;
}

TuneOptions tune_options(const Common& common, const TuneArguments& arguments, const Measuring& measuring) {
  TuneOptions options;
  options.seed = arguments.seed;
  options.measure_threads = measuring.threads();
  options.first_draws = arguments.first_draws;
  options.threads = static_cast<size_t>(std::max(arguments.threads, 0));
  options.resume = !arguments.fresh;
  options.machine = measuring.options().machine;
  options.command = common.command_line;
  options.model_file = arguments.model_file;
  require_folder_of(arguments.model_file);
  return options;
}

TuneManyOptions many_options(const Common& common, const TuneArguments& arguments, const TaskList& list,
                             const Measuring& measuring) {
  TuneManyOptions options;
  options.task = tune_options(common, arguments, measuring);
  options.task.batch = arguments.batch > 0 ? arguments.batch : kUsualBatch;
  options.seconds = seconds_limit(arguments);
  options.trials = arguments.trials;
  if (options.trials == 0 && arguments.minutes <= 0.0)
    options.trials = kUsualTrials * static_cast<int64_t>(list.tasks.size());
  const bool total = arguments.goal.empty() ? list.weighted : arguments.goal == "total";
  options.goal = total ? TuningGoal::TotalTime : TuningGoal::GeometricMean;
  options.min_gain = min_gain(arguments, list.tasks.size());
  options.rounds_at_once = measuring.rounds_at_once();
  // The other half is for the search's programs and for other processes.
  options.runner_bytes = 0.5 * available_bytes();
  return options;
}

double min_gain(const TuneArguments& arguments, size_t tasks) {
  if (arguments.min_gain) return *arguments.min_gain / 100.0;
  const bool limited = arguments.trials > 0 || seconds_limit(arguments) <= 0.0;
  return limited ? 0.0 : kUsualMinGain / static_cast<double>(tasks);
}

double seconds_limit(const TuneArguments& arguments) {
  constexpr double kMinute = 60.0;
  const double minutes = kMinute * arguments.minutes;
  if (arguments.time_limit <= 0.0) return minutes;
  return minutes > 0.0 ? std::min(minutes, arguments.time_limit) : arguments.time_limit;
}

}  // namespace tunesmith::cli
