// A schedule's primitives as methods, with signatures from the kernel's parameter lists.
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
  throw UserError(fmt::format("unknown primitive '{}'", name), suggest(name, registry.names()));
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
  // numpy's integers, and other types with __index__.
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

/// None, one handle, or a list of handles.
nb::object execute(const ScheduleRef& self, const InstructionKind& kind, const nb::args& given,
                   const nb::kwargs& named) {
  nb::kwargs rest = nb::cast<nb::kwargs>(nb::handle(named).attr("copy")());
  std::optional<Decision> decision;
  if (kind.sort() == InstructionSort::Sampling && rest.contains("decision")) {
    const nb::object wanted = nb::handle(rest).attr("pop")("decision");
    if (!wanted.is_none()) decision = nb::cast<Decision>(wanted);
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

/// The type for type checkers.
std::string_view python_type(ParamType type) {
  switch (type) {
    case ParamType::Block:
      return "Block";
    case ParamType::Loop:
      return "Loop";
    case ParamType::LoopOrBlock:
      return "Loop | Block";
    case ParamType::Loops:
      return "collections.abc.Sequence[Loop]";
    case ParamType::Int:
      return "int | Int";
    case ParamType::Ints:
      return "collections.abc.Sequence[int | Int]";
    case ParamType::OptionalInts:
      return "collections.abc.Sequence[int | Int | None]";
    case ParamType::Doubles:
      return "collections.abc.Sequence[float]";
    case ParamType::String:
      return "str";
    case ParamType::Scalar:
      return "int | Int | float | str";
    case ParamType::Bool:
      return "bool";
    case ParamType::BlockOrRootOrLoop:
      return "Block | Loop | None";
  }
  throw InternalError("unknown type of a parameter");
}

std::string_view python_type(ResultType type) {
  switch (type) {
    case ResultType::None:
      return "None";
    case ResultType::Block:
      return "Block";
    case ResultType::Blocks:
      return "list[Block]";
    case ResultType::Loop:
      return "Loop";
    case ResultType::Loops:
      return "list[Loop]";
    case ResultType::Int:
      return "Int";
    case ResultType::Ints:
      return "list[Int]";
  }
  throw InternalError("unknown type of a result");
}

/// "split(self, loop: Loop, factors: ...) -> list[Loop]". An optional
/// parameter has no default value where Python has no syntax for it.
std::string typed_signature_of(const InstructionKind& kind) {
  std::string text = fmt::format("def {}(self", kind.name());
  for (const ParamSpec& param : kind.params())
    text += fmt::format(", {}: {}{}", param.name, python_type(param.type), param.fallback ? " = ..." : "");
  if (kind.sort() == InstructionSort::Sampling)
    text += ", *, decision: collections.abc.Sequence[int] | None = None";
  return fmt::format("{}) -> {}", text, python_type(kind.result()));
}

std::string description_of(const InstructionKind& kind) {
  std::string text = fmt::format("The primitive {} of docs/schedule.md.", kind.name());
  for (const ParamSpec& param : kind.params())
    text += fmt::format("\n\n- `{}`: {}", param.name, describe(param.type));
  return text;
}

std::string help_of(const std::string& name) {
  const InstructionKind& kind = kind_of(name);
  std::string text = signature_of(kind) + "\n";
  for (const ParamSpec& param : kind.params())
    text += fmt::format("\n    {}: {}", param.name, describe(param.type));
  return text;
}

/// Binds the known primitives. __getattr__ finds those that plugins add later.
void bind_known(nb::class_<ScheduleRef>& schedule) {
  const InstructionRegistry& registry = InstructionRegistry::global();
  for (const std::string& name : registry.names()) {
    const InstructionKind* const kind = registry.find(name);
    schedule.def(
        name.c_str(),
        [kind](const ScheduleRef& self, const nb::args& given, const nb::kwargs& named) {
          return execute(self, *kind, given, named);
        },
        nb::sig(typed_signature_of(*kind).c_str()), description_of(*kind).c_str());
  }
}

}  // namespace

void bind_primitives(nb::module_& module, nb::class_<ScheduleRef>& schedule) {
  bind_known(schedule);
  schedule
      .def(
          "execute",
          [](const ScheduleRef& self, const std::string& primitive, const nb::args& given,
             const nb::kwargs& named) { return execute(self, kind_of(primitive), given, named); },
          nb::arg("primitive"), nb::arg("args"), nb::arg("named"),
          nb::sig("def execute(self, primitive: str, *args: typing.Any, **named: typing.Any) -> typing.Any"),
          R"(Executes the primitive of this name and records it. Returns a handle, a list of handles, or None. Of a sampling
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
             const nb::module_ builtins = nb::module_::import_("builtins");
             const nb::object names = builtins.attr("set")(builtins.attr("object").attr("__dir__")(self));
             names.attr("update")(nb::cast(InstructionRegistry::global().names()));
             return nb::list(names);
           })
      .def_static("help", &help_of, nb::arg("primitive"), "What a primitive takes.");
  module.def(
      "primitives", [] { return InstructionRegistry::global().names(); },
      "The names of all primitives, sorted.");
}

}  // namespace tunesmith::python
