// Task schedulers in Python.
#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <tunesmith/search/task_scheduler.h>

#include "plugins.h"

namespace tunesmith::python {
namespace {

/// A copy, with the histories that it refers to.
class Tasks {
 public:
  explicit Tasks(const TaskSet& set)
      : histories_(set.tasks.begin(), set.tasks.end()), set_{histories_, set.round, set.goal} {}
  Tasks(const Tasks&) = delete;
  Tasks& operator=(const Tasks&) = delete;

  const TaskSet& set() const { return set_; }
  const TaskHistory& at(size_t index) const {
    if (index >= histories_.size())
      throw UserError(fmt::format("there is no task {} among {}, counted from 0", index, histories_.size()));
    return histories_[index];
  }

 private:
  std::vector<TaskHistory> histories_;
  TaskSet set_;
};

struct TaskSetRef {
  std::shared_ptr<const Tasks> value;
};
struct TaskRef {
  std::shared_ptr<const Tasks> tasks;
  size_t index = 0;

  const TaskHistory& get() const { return tasks->at(index); }
};

class PythonTaskScheduler final : public TaskScheduler {
 public:
  explicit PythonTaskScheduler(HeldPtr object) : object_(std::move(object)) {}

  size_t next(const TaskSet& set) const override {
    return in_python([&] {
      const nb::object chosen = object_->get().attr("next")(TaskSetRef{std::make_shared<const Tasks>(set)});
      return nb::cast<size_t>(nb::module_::import_("operator").attr("index")(chosen));
    });
  }

 private:
  const HeldPtr object_;
};

template <typename T>
auto field(T TaskHistory::* member) {
  return [member](const TaskRef& self) { return self.get().*member; };
}

void bind_task_history(nb::module_& module) {
  nb::class_<TaskRef>(module, "TaskHistory", "What is known of one task.")
      .def_prop_ro("weight", field(&TaskHistory::weight), "How much it counts, above 0.")
      .def_prop_ro("group", field(&TaskHistory::group),
                   "Tasks of equal groups are similar: one operator and data type at other shapes.")
      .def_prop_ro("operations", field(&TaskHistory::operations), "Arithmetic of one call.")
      .def_prop_ro("trials", field(&TaskHistory::trials), "Measured so far.")
      .def_prop_ro("done", field(&TaskHistory::done), "It takes no further round.")
      .def_prop_ro(
          "best", [](const TaskRef& self) { return self.get().best(); },
          "Seconds of the fastest program so far; infinity when none has worked.")
      .def(
          "best_after", [](const TaskRef& self, int64_t trials) { return self.get().best_after(trials); },
          nb::arg("trials"), "Seconds of the fastest after so many trials.")
      .def_prop_ro(
          "improvements",
          [](const TaskRef& self) {
            ListOf<nb::typed<nb::tuple, int64_t, double>> list{nb::list()};
            for (const Improvement& one : self.get().improvements)
              list.append(nb::make_tuple(one.trials, one.seconds));
            return list;
          },
          "Programs that were faster than all before: a list of (trials when it was found, seconds).")
      .def("__repr__", [](const TaskRef& self) {
        return fmt::format("TaskHistory: {} trials, best {} s{}", self.get().trials, self.get().best(),
                           self.get().done ? ", done" : "");
      });
}

}  // namespace

std::shared_ptr<void> task_scheduler_of(HeldPtr object) {
  return std::static_pointer_cast<TaskScheduler>(std::make_shared<PythonTaskScheduler>(std::move(object)));
}

void bind_task_set(nb::module_& module) {
  bind_task_history(module);
  nb::class_<TaskSetRef>(module, "TaskSet",
                         "All tasks of a run, always in the same order: a sequence of TaskHistory.")
      .def("__len__", [](const TaskSetRef& self) { return self.value->set().tasks.size(); })
      .def(
          "__getitem__",
          [](const TaskSetRef& self, size_t index) {
            if (index >= self.value->set().tasks.size()) throw nb::index_error();
            return TaskRef{self.value, index};
          },
          nb::arg("index"))
      .def("__iter__", &iterator_of<TaskRef>)
      .def_prop_ro(
          "round", [](const TaskSetRef& self) { return self.value->set().round; }, "Trials of a whole round.")
      .def_prop_ro(
          "goal",
          [](const TaskSetRef& self) {
            return self.value->set().goal == TuningGoal::TotalTime ? "total" : "geomean";
          },
          "\"total\": the sum of weight times seconds; \"geomean\": the sum of weight times log(seconds).")
      .def(
          "slope",
          [](const TaskSetRef& self, size_t index) { return self.value->set().slope(self.value->at(index)); },
          nb::arg("index"),
          "By how much the goal falls for each second that the task's best program gets faster; 0 when none "
          "of its programs has worked.")
      .def(
          "fewest_trials", [](const TaskSetRef& self) { return self.value->set().fewest_trials(); },
          "The index of the task that is not done with the fewest trials; None when all are done.")
      .def("__repr__", [](const TaskSetRef& self) {
        return fmt::format("TaskSet of {}", self.value->set().tasks.size());
      });
}

}  // namespace tunesmith::python
