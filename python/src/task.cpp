// Tasks that advance step by step, under the caller's control.
#include <mutex>

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <tunesmith/target/separate_device.h>

#include "errors.h"
#include "records.h"
#include "tune.h"
#include "watched.h"

namespace tunesmith::python {
namespace {

class StepwiseTask {
 public:
  StepwiseTask(nb::handle workload, nb::handle space, const nb::kwargs& keywords);

  ListOf<RecordRef> step(int64_t n);
  ResultRef finish(bool rank);
  ResultRef so_far();
  bool done() const { return task_->done(); }
  int64_t trials() const { return task_->trials(); }
  int64_t batch() const { return setup_->options().batch; }
  const WorkloadPtr& workload() const { return workload_; }

 private:
  /// The task itself is called by one thread at a time.
  template <typename Work>
  void work(const Work& work) {
    require_own_process();
    std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock)
      throw UserError("this task is running in another thread", "call a task from one thread at a time");
    thread_.run(work, stop_, [] {});
  }
  ResultRef result_of(TuneResult value) const;

  WorkloadPtr workload_;
  std::shared_ptr<HeldSpace> space_;
  std::string database_;
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::vector<Record> measured_;  // by the current step
  WorkThread thread_;
  std::unique_ptr<Setup> setup_;
  std::unique_ptr<TuningTask> task_;
};

StepwiseTask::StepwiseTask(nb::handle workload, nb::handle space, const nb::kwargs& keywords)
    : workload_(workload_from(workload).value), space_(space_from(space).value) {
  const cli::TuneArguments arguments = arguments_from(keywords);
  database_ = cli::database_path(arguments.database);
  work([&] {
    setup_ = std::make_unique<Setup>(space_, workload_, arguments, stop_);
    TuneHooks hooks;
    hooks.stop = &stop_;
    hooks.recorded = [this](const Record& record) { measured_.push_back(record); };
    task_ = std::make_unique<TuningTask>(setup_->workload(), setup_->space(), setup_->store(),
                                         setup_->runner(), setup_->environment(), setup_->options(), hooks);
  });
}

ListOf<RecordRef> StepwiseTask::step(int64_t n) {
  if (n < 1) throw UserError(fmt::format("expected at least one trial, not {}", n));
  std::vector<Record> records;
  work([&] {
    task_->step(n);
    records = std::exchange(measured_, {});
  });
  nb::list list;
  for (Record& record : records)
    list.append(nb::cast(RecordRef{std::move(record), database_, space_, workload_}));
  return list;
}

ResultRef StepwiseTask::result_of(TuneResult value) const {
  return {std::move(value), OriginalSpace(space_), workload_, database_,
          models_times(space_->space->target())};
}

ResultRef StepwiseTask::finish(bool rank) {
  TuneResult value;
  work([&] { value = task_->finish("", rank); });
  return result_of(std::move(value));
}

ResultRef StepwiseTask::so_far() {
  TuneResult value;
  work([&] { value = task_->so_far(); });
  return result_of(std::move(value));
}

}  // namespace

void bind_task(nb::module_& module) {
  nb::class_<StepwiseTask>(module, "Task", R"(One workload being tuned, which whoever holds it advances.

    task = ts.Task("softmax", space=space, trials=256)
    for batch in task:                 # a round each: a list of the Records that it measured
        print(len(batch), task.result().best_seconds)
    result = task.finish()             # times the best few again, in turn

or `task.step(8)` until `task.done`. It takes the keywords of tune() but `progress`. What is measured is recorded at once,
and a task that is made again continues from the records. Ctrl-C ends the step under way and the task; what was measured
is kept.)")
      .def(
          "__init__",
          [](StepwiseTask* self, nb::handle workload, nb::handle space, const nb::kwargs& keywords) {
            new (self) StepwiseTask(workload, space, keywords);
          },
          nb::arg("workload"), nb::arg("space") = nb::none(), nb::arg("keywords"),
          nb::sig("def __init__(self, workload: WorkloadLike, "
                  "space: SpaceLike | None = None, "
                  "**keywords: typing.Unpack[TuneKeywords]) -> None"))
      .def(
          "step", &StepwiseTask::step, nb::arg("n"),
          R"(Proposes, builds, verifies, measures and learns from at most `n` programs, never over the end of a round, and answers
their Records; none when done.)")
      .def("finish", &StepwiseTask::finish, nb::arg("rank") = true,
           "Times the best few programs again, in turn, records that, and answers the Result.")
      .def("result", &StepwiseTask::so_far, "The result so far, without a ranking.")
      .def_prop_ro("done", &StepwiseTask::done,
                   "All trials made, the time spent, interrupted, or nothing left to propose.")
      .def_prop_ro("trials", &StepwiseTask::trials, "So far, those taken from the records included.")
      .def_prop_ro(
          "workload", [](const StepwiseTask& self) { return WorkloadRef{self.workload()}; },
          "What is tuned: a Workload.")
      .def("__iter__", [](nb::handle self) { return nb::typed<nb::object, StepwiseTask>(nb::borrow(self)); })
      .def("__next__",
           [](StepwiseTask& self) -> ListOf<RecordRef> {
             // A step may make no trial if everything it proposes is refused.
             while (!self.done()) {
               ListOf<RecordRef> batch = self.step(self.batch());
               if (batch.size() > 0) return batch;
             }
             throw nb::stop_iteration();
           })
      .def("__repr__", [](const StepwiseTask& self) {
        return fmt::format("Task {}, {} trials{}", self.workload()->key, self.trials(),
                           self.done() ? ", done" : "");
      });
}

}  // namespace tunesmith::python
