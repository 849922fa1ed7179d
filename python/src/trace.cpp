// Traces: the instructions that transformed a program, as text that can be replayed.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <tunesmith/support/hash.h>

#include "errors.h"
#include "refs.h"

namespace tunesmith::python {
namespace {

WorkloadPtr traced_workload(const TraceRef& self, const WorkloadLike& given) {
  if (!given.is_none()) return workload_from(given).value;
  if (self.workload) return self.workload;
  throw UserError("this trace has no workload", "name the workload: trace.schedule(workload)");
}

ScheduleRef replayed(const TraceRef& self, const WorkloadLike& given, uint64_t seed) {
  const WorkloadPtr workload = traced_workload(self, given);
  auto schedule = replay(workload->program, self.value, RandomStream(seed), nullptr, self.intrinsics);
  if (!schedule) throw ScheduleError(schedule.error());
  return {std::make_shared<Schedule>(std::move(*schedule)), workload, self.intrinsics,
          std::make_shared<const int>(0)};
}

std::string trace_line(const std::string& text, size_t index) {
  // The first line gives the version.
  size_t begin = text.find('\n') + 1;
  for (size_t i = 0; i < index; ++i) begin = text.find('\n', begin) + 1;
  return text.substr(begin, text.find('\n', begin) - begin);
}

ListOf<nb::str> trace_lines(const TraceRef& self) {
  const std::string text = self.value.str();
  nb::list lines;
  for (size_t i = 0; i < self.value.size(); ++i) lines.append(trace_line(text, i));
  return lines;
}

}  // namespace

void bind_trace(nb::module_& module) {
  nb::class_<TraceRef>(
      module, "Trace",
      R"(The list of instructions applied to a program, printed as the text that parse() reads.

A trace that knows its workload replays without naming it. `==` compares instructions and decisions.)")
      .def_static(
          "parse",
          [](const std::string& text, const WorkloadLike& workload, const SpaceLike& space) {
            IntrinsicsPtr intrinsics;
            if (!space.is_none()) intrinsics = space_from(space).value->space->intrinsics();
            TraceRef trace{shown_in(text, "trace", [&] { return Trace::parse(text); }), nullptr, intrinsics};
            if (!workload.is_none()) trace.workload = workload_from(workload).value;
            return trace;
          },
          nb::arg("text"), nb::arg("workload") = nb::none(), nb::arg("space") = nb::none(),
          R"(Reads the text form. `space`: whose tensor intrinsics it calls by name. Raises UserError with the line and a caret.)")
      .def(
          "schedule", &replayed, nb::arg("workload") = nb::none(), nb::arg("seed") = 0,
          R"(Replays it on a fresh program: a Schedule, to be continued. Decisions that do not fit are repaired, open ones are drawn
from `seed`. Raises ScheduleError where an instruction is refused.)")
      .def_prop_ro(
          "complete", [](const TraceRef& self) { return self.value.complete(); },
          "Does it include the finishing part? Then it replays without modules.")
      .def_prop_ro(
          "workload", [](const TraceRef& self) { return workload_or_none(self.workload); },
          "Of what it is a trace: a Workload; None: not known.")
      .def_prop_ro("lines", &trace_lines, "The text of each instruction.")
      .def(
          "searchable",
          [](const TraceRef& self) {
            return TraceRef{self.value.searchable(), self.workload, self.intrinsics};
          },
          "What search changes: without the part of finishing modules.")
      .def(
          "simplified",
          [](const TraceRef& self) {
            return TraceRef{self.value.simplified(), self.workload, self.intrinsics};
          },
          "Without look-ups and samplings whose results nothing uses.")
      .def(
          "diff", [](const TraceRef& self, const TraceRef& other) { return diff(self.value, other.value); },
          nb::arg("other"),
          "The difference as text: lines only here begin with '-', lines only there with '+'.")
      .def("__len__", [](const TraceRef& self) { return self.value.size(); })
      .def("__eq__", [](const TraceRef& self, const TraceRef& other) { return self.value == other.value; })
      .def("__eq__", [](const TraceRef&, nb::handle) { return false; })
      .def("__hash__", [](const TraceRef& self) { return static_cast<int64_t>(self.value.hash() >> 1); })
      .def("__str__", [](const TraceRef& self) { return self.value.str(); })
      .def("__repr__", [](const TraceRef& self) { return self.value.str(); })
      .def("__reduce__", [](const TraceRef& self) -> Reduced {
        return nb::make_tuple(nb::module_::import_("tunesmith._pickles").attr("trace"),
                              nb::make_tuple(self.value.str(), workload_or_none(self.workload)));
      });
}

}  // namespace tunesmith::python
