#include "tune.h"

#include <algorithm>
#include <limits>
#include <mutex>

#include <fmt/format.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <tunesmith/target/separate_device.h>

#include "errors.h"
#include "plain_report.h"
#include "records.h"
#include "session.h"
#include "traces.h"
#include "watched.h"

namespace tunesmith::python {
namespace {

/// What a progress callback is given.
struct ProgressRef {
  Progress line;
  double elapsed_seconds = 0.0;
};

ProgressRef progress_of(const TuneProgress& now, const Workload& workload, double peak, double seconds,
                        bool modelled) {
  ProgressRef progress{{}, now.elapsed_seconds};
  Progress& line = progress.line;
  line.modelled = modelled;
  line.done = now.trials;
  line.total = seconds > 0.0 ? 0 : now.total;
  line.best_seconds = now.best_seconds;
  if (now.best_seconds) line.gflops = workload.flops / *now.best_seconds * 1e-9;
  if (now.best_seconds && peak > 0.0) line.share_of_peak = workload.flops / *now.best_seconds / peak;
  for (const FailureCause cause : all_failure_causes()) {
    const auto found = now.failures.find(cause);
    if (found != now.failures.end()) line.failures.emplace_back(failure_cause_name(cause), found->second);
  }
  if (seconds > 0.0) {
    line.seconds_left = std::max(0.0, seconds - now.elapsed_seconds);
  } else if (now.trials > 0) {
    line.seconds_left =
        now.elapsed_seconds / static_cast<double>(now.trials) * static_cast<double>(now.total - now.trials);
  }
  return progress;
}

/// The newest state, handed from the tuning thread to the one that polls.
class Latest {
 public:
  void put(ProgressRef progress) {
    const std::lock_guard lock(mutex_);
    latest_ = std::move(progress);
  }
  std::optional<ProgressRef> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(latest_, std::nullopt);
  }

 private:
  std::mutex mutex_;
  std::optional<ProgressRef> latest_;
};

ResultRef tune_one(nb::handle workload, nb::handle space, const nb::object& progress,
                   const nb::kwargs& keywords) {
  require_own_process();
  const cli::TuneArguments arguments = arguments_from(keywords);
  ResultRef result;
  result.workload = workload_from(workload).value;
  result.space = space_from(space).value;
  result.database = cli::database_path(arguments.database);
  std::atomic<bool> stop{false};
  Latest latest;
  const auto work = [&] {
    Setup setup(result.space, result.workload, arguments, stop);
    const double peak = setup.peak();
    const double seconds = setup.limited_by_trials() ? 0.0 : setup.options().time_limit_seconds;
    const bool modelled = models_times(setup.space().target());
    result.threads = setup.options().measure_threads;
    result.asked = setup.limited_by_trials() ? setup.options().trials : 0;
    TuneHooks hooks;
    hooks.stop = &stop;
    hooks.left_plain = [](std::span<const PlainBlock> blocks) { cli::tell_plain(blocks, ""); };
    hooks.progress = [&](const TuneProgress& now) {
      latest.put(progress_of(now, *result.workload, peak, seconds, modelled));
    };
    result.value = tune(setup.workload(), setup.space(), setup.store(), setup.runner(), setup.environment(),
                        setup.options(), hooks);
  };
  const auto poll = [&] {
    const std::optional<ProgressRef> now = latest.take();
    if (!now || progress.is_none()) return;
    if (progress(nb::cast(*now)).is(nb::bool_(false))) stop = true;
  };
  if (WorkThread().run(work, stop, poll)) result.value.interrupted = true;
  return result;
}

nb::object best_of_result(const ResultRef& self) {
  if (self.value.best_id.empty()) return nb::none();
  const RecordStore store = cli::open_records(self.database, RecordStore::Mode::Read);
  const std::shared_ptr<HeldSpace> own =
      self.value.best_space == self.space->space->spec().name ? self.space : nullptr;
  return nb::cast(RecordRef{cli::find_record(store, self.value.best_id), self.database, own, self.workload});
}

std::map<std::string, int64_t> failures_of(const std::map<FailureCause, int64_t>& failures) {
  std::map<std::string, int64_t> named;
  for (const auto& [cause, count] : failures) named[std::string(failure_cause_name(cause))] = count;
  return named;
}

std::string result_text(const ResultRef& self) {
  const TuneResult& result = self.value;
  std::string text = fmt::format("{}: {} trials, {} valid{}", self.workload->key, result.trials, result.valid,
                                 result.interrupted ? ", interrupted" : "");
  if (result.best_id.empty()) return text + "; nothing valid was found";
  const double speed = self.workload->flops / result.best_seconds;
  text += fmt::format("\n  best      {}{}, {:.1f} GFLOP/s", seconds_text(result.best_seconds),
                      models_times(self.space->space->target()) ? " modelled" : "", speed * 1e-9);
  if (result.peak) text += fmt::format(", {:.1f} % of the peak", 100.0 * speed / result.peak->per_second);
  if (result.baseline_seconds > 0.0)
    text += fmt::format("\n  baseline  {}: the best is {:.1f} times as fast",
                        seconds_text(result.baseline_seconds), result.baseline_seconds / result.best_seconds);
  return text + fmt::format("\n  record    {}", result.best_id);
}

void bind_progress(nb::module_& module) {
  nb::class_<ProgressRef>(module, "Progress",
                          "How far a run is. Printed, it is the line that the command shows.")
      .def_prop_ro(
          "done", [](const ProgressRef& self) { return self.line.done; }, "Trials.")
      .def_prop_ro(
          "total", [](const ProgressRef& self) { return self.line.total; }, "Trials; 0: time ends the run.")
      .def_prop_ro(
          "best_seconds", [](const ProgressRef& self) { return self.line.best_seconds; },
          "Of one call; None: nothing valid yet.")
      .def_prop_ro(
          "gflops", [](const ProgressRef& self) { return self.line.gflops; },
          "Of the best, 1e9 operations a second.")
      .def_prop_ro(
          "share_of_peak", [](const ProgressRef& self) { return self.line.share_of_peak; },
          "Of the best; 1 is the machine's measured peak.")
      .def_prop_ro(
          "failures",
          [](const ProgressRef& self) {
            return std::map<std::string, int64_t>(self.line.failures.begin(), self.line.failures.end());
          },
          "Trials that failed, by cause.")
      .def_prop_ro(
          "seconds_left", [](const ProgressRef& self) { return self.line.seconds_left; },
          "As far as can be said now.")
      .def_ro("elapsed_seconds", &ProgressRef::elapsed_seconds, "Since the run began.")
      .def(
          "text", [](const ProgressRef& self, size_t width) { return progress_text(self.line, width); },
          nb::arg("width"), "In at most so many columns.")
      .def("__str__", [](const ProgressRef& self) {
        return progress_text(self.line, std::numeric_limits<size_t>::max());
      });
}

template <typename T>
auto field(T TuneResult::* member) {
  return [member](const ResultRef& self) { return self.value.*member; };
}

void bind_result(nb::module_& module) {
  nb::class_<ResultRef>(module, "Result", nb::dynamic_attr(),
                        "What a run has found. Printed, it is a summary.")
      .def_prop_ro("best", &best_of_result,
                   "The best program of the task on record: a Record; None: nothing valid was found.")
      .def_prop_ro("best_seconds", field(&TuneResult::best_seconds), "Of one call.")
      .def_prop_ro("baseline_seconds", field(&TuneResult::baseline_seconds), "Of the unscheduled program.")
      .def_prop_ro(
          "peak", [](const ResultRef& self) { return self.value.peak ? self.value.peak->per_second : 0.0; },
          "Operations a second of the machine's peak kernel: the highest on record. 0: nothing was ranked.")
      .def_prop_ro("ended_because", field(&TuneResult::ended_because),
                   "\"trials\", \"time limit\", \"expected gain\", ...")
      .def_prop_ro("trials", field(&TuneResult::trials),
                   "Programs measured, those taken from the records included.")
      .def_prop_ro("valid", field(&TuneResult::valid), "Of the trials: right, and timed.")
      .def_prop_ro("resumed", field(&TuneResult::resumed),
                   "Of the trials: taken from the records of the same run.")
      .def_prop_ro("known", field(&TuneResult::known), "Programs of the task on record when the run began.")
      .def_prop_ro("disturbed", field(&TuneResult::disturbed),
                   "Measured while something else used the machine.")
      .def_prop_ro(
          "failures", [](const ResultRef& self) { return failures_of(self.value.failures); },
          "Trials that failed, by cause.")
      .def_prop_ro("interrupted", field(&TuneResult::interrupted), "Ctrl-C, or a callback, ended it.")
      .def_prop_ro("exhausted", field(&TuneResult::exhausted), "Nothing was left to propose.")
      .def_prop_ro(
          "seconds", [](const ResultRef& self) { return self.value.times.wall; }, "Of wall-clock.")
      .def_prop_ro(
          "times",
          [](const ResultRef& self) {
            const TuneTimes& times = self.value.times;
            return std::map<std::string, double>{{"generate", times.generate}, {"propose", times.propose},
                                                 {"model", times.model},       {"build", times.build},
                                                 {"measure", times.measure},   {"wait", times.wait},
                                                 {"wall", times.wall}};
          },
          "Seconds of wall-clock by what they were spent on.")
      .def_prop_ro(
          "workload", [](const ResultRef& self) { return WorkloadRef{self.workload}; },
          "What was tuned: a Workload.")
      .def_prop_ro(
          "space", [](const ResultRef& self) { return SpaceRef{self.space}; }, "The Space that was searched.")
      .def_ro("records", &ResultRef::database, "The store's file.")
      .def("__repr__", &result_text);
}

}  // namespace

void bind_tune(nb::module_& module) {
  bind_progress(module);
  bind_result(module);
  module.def("tune_one", &tune_one, nb::arg("workload"), nb::arg("space").none(), nb::arg("progress").none(),
             nb::arg("keywords"));
}

}  // namespace tunesmith::python
