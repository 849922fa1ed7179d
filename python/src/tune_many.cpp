// Many workloads under one budget.
#include <mutex>

#include <fmt/format.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <tunesmith/target/separate_device.h>
#include <tunesmith/tuning/tune_many.h>

#include "errors.h"
#include "memory.h"
#include "plain_report.h"
#include "say.h"
#include "tune.h"
#include "watched.h"

namespace tunesmith::python {
namespace {

/// The argument of a progress callback for many tasks.
struct ManyProgressRef {
  int64_t done = 0;
  int64_t total = 0;
  int64_t failed = 0;
  double elapsed_seconds = 0.0;
  std::string phase;
  std::string task;
  std::map<std::string, double> best;  // in seconds, for tasks with a working program
  size_t tasks = 0;
};

std::string phase_text(TuneManyProgress::Phase phase) {
  if (phase == TuneManyProgress::Phase::Opening) return "opening";
  return phase == TuneManyProgress::Phase::Searching ? "searching" : "ranking";
}

ManyProgressRef many_progress_of(const TuneManyProgress& now, const cli::TaskList& list, int64_t total) {
  ManyProgressRef progress{now.trials,
                           total,
                           now.failed,
                           now.elapsed_seconds,
                           phase_text(now.phase),
                           list.names.at(now.task),
                           {},
                           list.tasks.size()};
  for (size_t i = 0; i < now.histories.size(); ++i) {
    if (!now.histories[i].improvements.empty()) progress.best[list.names[i]] = now.histories[i].best();
  }
  return progress;
}

std::string many_progress_text(const ManyProgressRef& self, size_t width) {
  const std::string trials =
      self.total > 0 ? fmt::format("{}/{}", self.done, self.total) : fmt::format("{}", self.done);
  return fmt::format("trials {}  {} of {} tasks have a program  {} {}", trials, self.best.size(), self.tasks,
                     self.phase, self.task)
      .substr(0, width);
}

cli::TaskList tasks_from(const nb::sequence& workloads, nb::handle weights, bool allow_memory) {
  cli::TaskList list;
  const size_t count = nb::len(workloads);
  if (count == 0) throw UserError("expected at least one workload");
  if (!weights.is_none() && nb::len(weights) != count)
    throw UserError(fmt::format("weights: {} for {} workloads", nb::len(weights), count),
                    "give one for each");
  list.many = true;
  list.weighted = !weights.is_none();
  for (size_t i = 0; i < count; ++i) {
    const WorkloadPtr workload = workload_from(nb::object(workloads[i])).value;
    for (size_t other = 0; other < i; ++other) {
      if (list.tasks[other].workload.hash == workload->hash)
        throw UserError(fmt::format("{} and {} are the same computation", list.names[other], workload->key),
                        "give it once, with the sum of their weights");
    }
    double weight = 1.0;
    if (list.weighted && (!nb::try_cast(nb::object(weights[i]), weight) || !(weight > 0.0)))
      throw UserError(fmt::format("weights: expected numbers above 0, not {}",
                                  nb::cast<std::string>(nb::repr(weights[i]))));
    cli::require_memory(*workload, allow_memory);
    list.tasks.push_back(
        cli::weighted_task(instantiate({workload->hash, workload->key, workload->definition}), weight));
    list.names.push_back(workload->key);
  }
  return list;
}

/// The common part of a run's tasks, like Setup for one task.
class ManySetup {
 public:
  ManySetup(HeldSpace& held, const cli::TuneArguments& arguments, const std::atomic<bool>& stop)
      : ManySetup(held, cli::searched_as_asked(held.session, arguments), arguments, stop) {}

  const std::shared_ptr<const Space> space;
  RecordStore store;
  cli::Measuring measuring;

 private:
  ManySetup(HeldSpace& held, const SpaceSpec& spec, const cli::TuneArguments& arguments,
            const std::atomic<bool>& stop)
      : ManySetup(held, spec, cli::measuring_place(held.session, spec), arguments, stop) {}
  ManySetup(HeldSpace& held, const SpaceSpec& spec, const std::shared_ptr<MeasuringPlace>& place,
            const cli::TuneArguments& arguments, const std::atomic<bool>& stop)
      : space(cli::measured_space(held.session, spec, *place, arguments.threads)),
        store(cli::open_records(arguments.database)),
        measuring(place, held.session, *space, cli::measure_options(arguments, stop, cli::say),
                  cli::database_path(arguments.database), cli::say) {}
};

ListOf<ResultRef> tune_all(const nb::sequence& workloads, const SpaceLike& space, const nb::object& progress,
                           nb::handle weights, const nb::kwargs& keywords) {
  require_own_process();
  cli::TuneArguments arguments = arguments_from(keywords);
  const cli::TaskList list = tasks_from(workloads, weights, arguments.allow_memory);
  const std::shared_ptr<HeldSpace> held = space_from(space).value;
  std::atomic<bool> stop{false};
  std::mutex mutex;
  std::optional<ManyProgressRef> latest;
  TuneManyResult result;
  const auto work = [&] {
    ManySetup setup(*held, arguments, stop);
    cli::Common common;
    common.command_line = "python";
    const TuneManyOptions options = cli::many_options(common, arguments, list, setup.measuring);
    TuneManyHooks hooks;
    hooks.stop = &stop;
    hooks.left_plain = [&](size_t task, std::span<const PlainBlock> blocks) {
      cli::tell_plain(blocks, list.names[task]);
    };
    hooks.said = [&](size_t task, const std::string& sentence) {
      cli::say(list.names[task] + ": " + sentence);
    };
    hooks.progress = [&](const TuneManyProgress& now) {
      const std::lock_guard lock(mutex);
      latest = many_progress_of(now, list, options.trials);
    };
    const MakeRunner make_runner = [&](const WeightedTask& task) {
      return setup.measuring.runner(task.workload);
    };
    result = tune_many(list.tasks, *setup.space, setup.store, make_runner, setup.measuring.environment(),
                       options, hooks);
  };
  const auto poll = [&] {
    std::unique_lock lock(mutex);
    const std::optional<ManyProgressRef> now = std::exchange(latest, std::nullopt);
    lock.unlock();
    if (now && !progress.is_none() && progress(nb::cast(*now)).is(nb::bool_(false))) stop = true;
  };
  WorkThread().run(work, stop, poll);
  nb::list results;
  for (size_t i = 0; i < result.tasks.size(); ++i) {
    TuneResult& one = result.tasks[i].result;
    one.interrupted = result.interrupted;
    if (!result.tasks[i].error.empty()) cli::say(fmt::format("{}: {}", list.names[i], result.tasks[i].error));
    results.append(
        nb::cast(ResultRef{std::move(one), OriginalSpace(held), workload_from(nb::object(workloads[i])).value,
                           cli::database_path(arguments.database), models_times(held->space->target())}));
  }
  return results;
}

}  // namespace

void bind_tune_many(nb::module_& module) {
  nb::class_<ManyProgressRef>(module, "ManyProgress", "How far a run of many tasks is.")
      .def_ro("done", &ManyProgressRef::done, "Trials of all tasks.")
      .def_ro("total", &ManyProgressRef::total, "Trials; 0: time ends the run.")
      .def_ro("failed", &ManyProgressRef::failed, "Trials that failed.")
      .def_ro("elapsed_seconds", &ManyProgressRef::elapsed_seconds, "Since the run began.")
      .def_ro("phase", &ManyProgressRef::phase, "\"opening\", \"searching\" or \"ranking\" the task.")
      .def_ro("task", &ManyProgressRef::task, "The workload that has its turn.")
      .def_ro("best", &ManyProgressRef::best, "Seconds of one call, by workload.")
      .def("text", &many_progress_text, nb::arg("width"), "In at most so many columns.")
      .def("__str__",
           [](const ManyProgressRef& self) { return many_progress_text(self, std::string::npos); });
  module.def("tune_all", &tune_all, nb::arg("workloads"), nb::arg("space").none(), nb::arg("progress").none(),
             nb::arg("weights").none(), nb::arg("keywords"),
             nb::sig("def tune_all(workloads: collections.abc.Sequence[WorkloadLike], "
                     "space: SpaceLike | None, "
                     "progress: collections.abc.Callable[[ManyProgress], object] | None, "
                     "**keywords: typing.Unpack[ManyKeywords]) -> list[Result]"));
}

}  // namespace tunesmith::python
