// Schedules: every primitive of the kernel and of plugins is a method, by its name.
#include <algorithm>

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <tunesmith/trace/instruction.h>

#include "errors.h"
#include "handles.h"

namespace tunesmith::python {
namespace {

const InstructionKind& kind_of(const std::string& name) {
  const InstructionRegistry& registry = InstructionRegistry::global();
  if (const InstructionKind* kind = registry.find(name)) return *kind;
  throw UserError(fmt::format("there is no primitive '{}'", name), suggest(name, registry.names()));
}

template <typename Kind>
bool take_handle(nb::handle value, const ScheduleRef& schedule, Arg& arg) {
  if (!nb::isinstance<Kind>(value)) return false;
  const Kind& handle = nb::cast<const Kind&>(value);
  require_own(handle, schedule);
  arg = handle.variable;
  return true;
}

Arg arg_of(nb::handle value, const ScheduleRef& schedule, const ParamSpec& param) {
  Arg arg;
  if (value.is_none()) return arg;
  if (take_handle<BlockHandle>(value, schedule, arg) || take_handle<LoopHandle>(value, schedule, arg) ||
      take_handle<IntHandle>(value, schedule, arg))
    return arg;
  if (nb::isinstance<nb::bool_>(value)) return nb::cast<bool>(value);
  if (nb::isinstance<nb::int_>(value)) {
    if (param.type == ParamType::Doubles) return nb::cast<double>(value);
    return nb::cast<int64_t>(value);
  }
  if (nb::isinstance<nb::float_>(value)) return nb::cast<double>(value);
  if (nb::isinstance<nb::str>(value)) return nb::cast<std::string>(value);
  if (nb::isinstance<nb::list>(value) || nb::isinstance<nb::tuple>(value)) {
    ArgList list;
    for (const nb::handle item : value) list.push_back(arg_of(item, schedule, param));
    return list;
  }
  // numpy's integers, and whatever else is one.
  if (PyIndex_Check(value.ptr()) != 0)
    return nb::cast<int64_t>(nb::module_::import_("operator").attr("index")(value));
  throw UserError(fmt::format("'{}': expected {}, not {}", param.name, describe(param.type),
                              nb::cast<std::string>(nb::str(nb::handle(value.type())))));
}

std::string signature_of(const InstructionKind& kind) {
  std::string text;
  for (const ParamSpec& param : kind.params())
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ", param.name, param.fallback ? "=..." : "");
  return fmt::format("{}({})", kind.name(), text);
}

std::vector<Arg> args_of(const InstructionKind& kind, const ScheduleRef& schedule, const nb::args& given,
                         const nb::kwargs& named) {
  const std::vector<ParamSpec>& params = kind.params();
  if (given.size() > params.size())
    throw UserError(
        fmt::format("{} takes {} arguments, not {}", signature_of(kind), params.size(), given.size()));
  std::vector<Arg> args;
  size_t used = 0;
  for (size_t i = 0; i < params.size(); ++i) {
    const nb::str name(params[i].name.c_str());
    const bool is_named = named.contains(name);
    if (is_named) ++used;
    if (i < given.size()) {
      if (is_named)
        throw UserError(fmt::format("{}: '{}' is given twice", signature_of(kind), params[i].name));
      args.push_back(arg_of(given[i], schedule, params[i]));
    } else if (is_named) {
      args.push_back(arg_of(named[name], schedule, params[i]));
    } else if (params[i].fallback) {
      args.push_back(*params[i].fallback);
    } else {
      throw UserError(fmt::format("{} lacks '{}': expected {}", signature_of(kind), params[i].name,
                                  describe(params[i].type)));
    }
  }
  if (used == named.size()) return args;
  std::vector<std::string> names;
  for (const ParamSpec& param : params) names.push_back(param.name);
  for (const auto& [key, value] : named) {
    const std::string name = nb::cast<std::string>(key);
    if (std::ranges::find(names, name) == names.end())
      throw UserError(fmt::format("{} has no '{}'", signature_of(kind), name), suggest(name, names));
  }
  return args;
}

nb::object handle_of(ResultType type, TraceVar variable, const ScheduleRef& schedule) {
  const Handle handle{variable, schedule.family};
  switch (type) {
    case ResultType::Block:
    case ResultType::Blocks:
      return nb::cast(BlockHandle{handle});
    case ResultType::Loop:
    case ResultType::Loops:
      return nb::cast(LoopHandle{handle});
    default:
      return nb::cast(IntHandle{handle});
  }
}

/// Nothing, one handle, or a list of them.
nb::object execute(const ScheduleRef& self, const std::string& name, const nb::args& given,
                   const nb::kwargs& named) {
  const InstructionKind& kind = kind_of(name);
  nb::kwargs rest = nb::cast<nb::kwargs>(nb::handle(named).attr("copy")());
  std::optional<Decision> decision;
  if (kind.sort() == InstructionSort::Sampling && rest.contains("decision")) {
    decision = nb::cast<Decision>(rest["decision"]);
    nb::handle(rest).attr("pop")("decision");
  }
  const std::vector<TraceVar> results = self.value->execute(kind, args_of(kind, self, given, rest), decision);
  switch (kind.result()) {
    case ResultType::None:
      return nb::none();
    case ResultType::Block:
    case ResultType::Loop:
    case ResultType::Int:
      return handle_of(kind.result(), results.at(0), self);
    default:
      break;
  }
  nb::list list;
  for (const TraceVar variable : results) list.append(handle_of(kind.result(), variable, self));
  return list;
}

ScheduleRef schedule_of(nb::handle of, uint64_t seed, nb::handle space) {
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

std::string help_of(const std::string& name) {
  const InstructionKind& kind = kind_of(name);
  std::string text = signature_of(kind) + "\n";
  for (const ParamSpec& param : kind.params())
    text += fmt::format("\n    {}: {}", param.name, describe(param.type));
  return text;
}

ScheduleRef copy_of_schedule(const ScheduleRef& schedule) {
  return {std::make_shared<Schedule>(schedule.value->clone()), schedule.workload, schedule.intrinsics,
          schedule.family};
}

nb::class_<ScheduleRef> bind_primitives(nb::module_& module) {
  return nb::class_<ScheduleRef>(module, "Schedule", R"(A program and the trace of what was done to it.

Every primitive of docs/schedule.md is a method: `i, j, k = sch.get_loops(sch.get_block("C"))`,
`outer, inner = sch.split(i, [None, 16])`, `sch.parallel(outer)`. dir(sch) lists them, Schedule.help(name) says what one
takes; what that page calls `root` is None here. A primitive that cannot prove that the program keeps its meaning raises
ScheduleError, and the schedule is as it was.)")
      .def(
          "__init__",
          [](ScheduleRef* self, nb::handle of, uint64_t seed, nb::handle space) {
            new (self) ScheduleRef(schedule_of(of, seed, space));
          },
          nb::arg("of"), nb::arg("seed") = 0, nb::arg("space") = nb::none(),
          R"(Of a workload, a text that names one, or a program. Sampling draws from `seed`. `space`: whose tensor intrinsics are
known by name.)")
      .def(
          "execute", &execute, nb::arg("primitive"), nb::arg("args"), nb::arg("named"),
          R"(Executes the primitive of this name and records it. Answers a handle, a list of handles, or None. Of a sampling
primitive `decision` is what it is to decide, a list of int, repaired where it does not fit.)")
      .def("__getattr__",
           [](nb::handle self, const std::string& name) {
             if (InstructionRegistry::global().find(name) == nullptr) {
               const std::string near = nearest_name(name, InstructionRegistry::global().names());
               throw nb::attribute_error(
                   fmt::format("'Schedule' has no primitive '{}'{}", name,
                               near.empty() ? "" : fmt::format("; did you mean '{}'?", near))
                       .c_str());
             }
             return nb::module_::import_("functools").attr("partial")(self.attr("execute"), name);
           })
      .def("__dir__",
           [](nb::handle self) {
             nb::list names(nb::module_::import_("builtins").attr("object").attr("__dir__")(self));
             for (const std::string& name : InstructionRegistry::global().names()) names.append(name);
             return names;
           })
      .def_static("help", &help_of, nb::arg("primitive"), "What a primitive takes.")
      .def(
          "value",
          [](const ScheduleRef& self, const IntHandle& number) {
            if (number.family != self.family) throw UserError("a number of another schedule");
            return self.value->value(IntRV{number.variable});
          },
          nb::arg("number"), "What a drawn number is.");
}

/// What a schedule is now.
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
          "What was done up to now: a Trace.")
      .def_prop_ro(
          "workload",
          [](const ScheduleRef& self) {
            return self.workload ? nb::cast(WorkloadRef{self.workload}) : nb::object(nb::none());
          },
          "Of what it is a schedule: a Workload; None: of a program.")
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
  nb::class_<ScheduleRef> schedule = bind_primitives(module);
  bind_state(schedule);
  bind_questions(module, schedule);
  module.def(
      "primitives", [] { return InstructionRegistry::global().names(); },
      "The names of all primitives, sorted.");
}

}  // namespace tunesmith::python
