// Schedules.
#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "errors.h"
#include "handles.h"

namespace tunesmith::python {
namespace {

ScheduleRef schedule_of(nb::handle of, uint64_t seed, const SpaceLike& space) {
  IntrinsicsPtr intrinsics;
  if (!space.is_none()) intrinsics = space_from(space).value->space->intrinsics();
  const auto family = std::make_shared<const int>(0);
  if (nb::isinstance<ProgramRef>(of)) {
    const ProgramRef& program = nb::cast<const ProgramRef&>(of);
    if (program.lowered) throw UserError("a lowered program takes no further transformations");
    return {std::make_shared<Schedule>(*program.program, RandomStream(seed), intrinsics), nullptr, intrinsics,
            family};
  }
  const WorkloadPtr workload = workload_from(of).value;
  return {std::make_shared<Schedule>(workload->program, RandomStream(seed), intrinsics), workload, intrinsics,
          family};
}

template <typename Kind>
void bind_handle(nb::module_& module, const char* name, const char* letter, const char* help) {
  nb::class_<Kind>(module, name, help)
      .def("__repr__",
           [letter](const Kind& self) { return fmt::format("{}{}", letter, self.variable.index); })
      .def("__eq__",
           [](const Kind& self, const Kind& other) {
             return self.variable == other.variable && self.family == other.family;
           })
      .def("__eq__", [](const Kind&, nb::handle) { return false; })
      .def("__hash__", [](const Kind& self) { return static_cast<int64_t>(self.variable.index); });
}

ScheduleRef copy_of_schedule(const ScheduleRef& schedule) {
  return {std::make_shared<Schedule>(schedule.value->clone()), schedule.workload, schedule.intrinsics,
          schedule.family};
}

nb::class_<ScheduleRef> bind_schedule_class(nb::module_& module) {
  return nb::class_<ScheduleRef>(module, "Schedule", R"(A program and the trace of what was done to it.

Every primitive of docs/schedule.md is a method: `i, j, k = sch.get_loops(sch.get_block("C"))`,
`outer, inner = sch.split(i, [None, 16])`, `sch.parallel(outer)`. dir(sch) lists them, Schedule.help(name) says what one
takes; what that page calls `root` is None here. A primitive that cannot prove that the program keeps its meaning raises
ScheduleError, and the schedule is as it was.)")
      .def(
          "__init__",
          [](ScheduleRef* self, nb::handle of, uint64_t seed, const SpaceLike& space) {
            new (self) ScheduleRef(schedule_of(of, seed, space));
          },
          nb::arg("of"), nb::arg("seed") = 0, nb::arg("space") = nb::none(),
          nb::sig("def __init__(self, of: WorkloadLike | Program, seed: int = 0, "
                  "space: SpaceLike | None = None) -> None"),
          R"(Of a workload, a text that names one, or a program. Sampling draws from `seed`. `space`: whose tensor intrinsics are
known by name.)")
      .def(
          "value",
          [](const ScheduleRef& self, const IntHandle& number) {
            if (number.family != self.family) throw UserError("a number of another schedule");
            return self.value->value(IntRV{number.variable});
          },
          nb::arg("number"), "What a drawn number is.");
}

/// Binds a schedule's current state.
void bind_state(nb::class_<ScheduleRef>& schedule) {
  schedule.def("copy", &copy_of_schedule, "An independent schedule; the handles of this one fit it, too.")
      .def("__copy__", &copy_of_schedule)
      .def_prop_ro(
          "program",
          [](const ScheduleRef& self) {
            return ProgramRef{std::make_shared<const Program>(self.value->program().clone()), nullptr};
          },
          "The program as it is now; what is done to the schedule later does not change it.")
      .def_prop_ro(
          "trace",
          [](const ScheduleRef& self) {
            return TraceRef{self.value->trace(), self.workload, self.intrinsics};
          },
          "The instructions so far: a Trace.")
      .def_prop_ro(
          "workload", [](const ScheduleRef& self) { return workload_or_none(self.workload); },
          "The workload it schedules; None: it schedules a program.")
      .def("__repr__", [](const ScheduleRef& self) {
        return fmt::format("Schedule of {}, {} instructions", self.value->program().name,
                           self.value->trace().size());
      });
}

}  // namespace

void bind_schedule(nb::module_& module) {
  bind_handle<BlockHandle>(module, "Block", "b", "A block of one schedule, and of its copies.");
  bind_handle<LoopHandle>(module, "Loop", "l", "A loop of one schedule, and of its copies.");
  bind_handle<IntHandle>(module, "Int", "v", "A number that a schedule has drawn.");
  nb::class_<ScheduleRef> schedule = bind_schedule_class(module);
  bind_primitives(module, schedule);
  bind_state(schedule);
  bind_questions(module, schedule);
}

}  // namespace tunesmith::python
