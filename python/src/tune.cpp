#include "tune.h"

#include <algorithm>
#include <limits>
#include <mutex>

#include <fmt/format.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <tunesmith/measuring/peak.h>
#include <tunesmith/target/separate_device.h>

#include "errors.h"
#include "plain_report.h"
#include "say.h"
#include "watched.h"

namespace tunesmith::python {
namespace {

/// The argument of a progress callback.
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
  line.rate_unit = operations_unit(computed_type(workload.program));
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

ResultRef tune_one(const WorkloadLike& workload, const SpaceLike& space, const nb::object& progress,
                   const nb::kwargs& keywords) {
  require_own_process();
  const cli::TuneArguments arguments = arguments_from(keywords);
  ResultRef result;
  result.workload = workload_from(workload).value;
  const std::shared_ptr<HeldSpace> held = space_from(space).value;
  result.space = OriginalSpace(held);
  result.database = cli::database_path(arguments.database);
  std::atomic<bool> stop{false};
  Latest latest;
  const auto work = [&] {
    Setup setup(held, result.workload, arguments, stop);
    const double peak = setup.peak();
    const double seconds = setup.limited_by_trials() ? 0.0 : setup.options().time_limit_seconds;
    result.modelled = models_times(setup.space().target());
    TuneHooks hooks;
    hooks.stop = &stop;
    hooks.left_plain = [](std::span<const PlainBlock> blocks) { cli::tell_plain(blocks, ""); };
    hooks.said = [](const std::string& sentence) { cli::say(sentence); };
    hooks.progress = [&](const TuneProgress& now) {
      latest.put(progress_of(now, *result.workload, peak, seconds, result.modelled));
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

}  // namespace

void bind_tune(nb::module_& module) {
  bind_progress(module);
  module.def("tune_one", &tune_one, nb::arg("workload"), nb::arg("space").none(), nb::arg("progress").none(),
             nb::arg("keywords"),
             nb::sig("def tune_one(workload: WorkloadLike, "
                     "space: SpaceLike | None, "
                     "progress: collections.abc.Callable[[Progress], object] | None, "
                     "**keywords: typing.Unpack[TuneKeywords]) -> Result"));
}

}  // namespace tunesmith::python
