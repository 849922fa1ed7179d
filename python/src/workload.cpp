// Workloads: by name, by text, from a file.

#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <tunesmith/ir/printer.h>
#include <tunesmith/support/hash.h>
#include <tunesmith/workload/library.h>

#include "arrays.h"
#include "errors.h"
#include "refs.h"

namespace tunesmith::python {
namespace {

constexpr const char* kText = "the workload's text";

/// "b" and 3, "dtype" and "bf16" or tunesmith.bf16.
std::vector<ParamText> params_of(const nb::kwargs& given) {
  std::vector<ParamText> params;
  for (const auto& [name, value] : given) {
    const bool yes = value.is(nb::bool_(true));
    const bool no = value.is(nb::bool_(false));
    params.emplace_back(nb::cast<std::string>(name), yes  ? "1"
                                                     : no ? "0"
                                                          : nb::cast<std::string>(nb::str(value)));
  }
  return params;
}

/// A text of several lines is a definition; any other is a name or a file, as for the command.
Workload load_workload(const std::string& text, std::vector<ParamText> given) {
  if (text.find('\n') != std::string::npos)
    return shown_in(text, kText, [&] { return WorkloadDefinition::parse(text, kText).instantiate(given); });
  auto [name, params] = parse_workload_text(text);
  for (const ParamText& param : params) {
    for (const ParamText& other : given) {
      if (param.first == other.first)
        throw UserError(fmt::format("'{}' is given twice: in '{}' and as an argument", param.first, text));
    }
  }
  params.insert(params.end(), given.begin(), given.end());
  return WorkloadLibrary().definition(name).instantiate(params);
}

std::string shape_text(const BufferNode& buffer) {
  return fmt::format("{}: {}", buffer.name, type_text(buffer.dtype, buffer.shape));
}

nb::typed<nb::tuple, int64_t, nb::ellipsis> tuple_of(const std::vector<int64_t>& numbers) {
  nb::list list;
  for (const int64_t number : numbers) list.append(number);
  return nb::tuple(list);
}

std::string workload_text(const Workload& workload) {
  std::string arguments;
  for (const Buffer& input : workload.program.inputs)
    arguments += (arguments.empty() ? "" : ", ") + shape_text(*input);
  std::string results;
  for (const Buffer& output : workload.program.outputs)
    results += (results.empty() ? "" : ", ") + shape_text(*output);
  return fmt::format("Workload('{}')  # ({}) -> {}", workload.key, arguments, results);
}

}  // namespace

ListOf<BufferRef> buffers_of(const std::vector<Buffer>& buffers) {
  nb::list list;
  for (const Buffer& buffer : buffers) list.append(nb::cast(BufferRef{buffer}));
  return list;
}

std::string path_from(nb::handle object) {
  return nb::cast<std::string>(nb::module_::import_("os").attr("fspath")(object));
}

WorkloadRef workload_from(nb::handle object) {
  WorkloadRef found;
  if (nb::try_cast(object, found)) return found;
  if (nb::hasattr(object, "workload")) return workload_from(object.attr("workload"));
  if (!nb::isinstance<nb::str>(object) && !nb::hasattr(object, "__fspath__"))
    throw UserError(fmt::format("expected a workload or its text, not {}",
                                nb::cast<std::string>(nb::str(object.type()))));
  return {std::make_shared<const Workload>(load_workload(path_from(object), {}))};
}

namespace {

void bind_buffer(nb::module_& module) {
  nb::class_<BufferRef>(
      module, "Buffer",
      "An input, an output or an intermediate of a program: a typed, shaped piece of memory.")
      .def_prop_ro(
          "name", [](const BufferRef& self) { return self.value->name; }, "Unique in its program.")
      .def_prop_ro(
          "dtype", [](const BufferRef& self) { return self.value->dtype.str(); }, "As \"f32\".")
      .def_prop_ro(
          "shape", [](const BufferRef& self) { return tuple_of(self.value->shape); }, "A tuple of int.")
      .def_prop_ro(
          "scope", [](const BufferRef& self) { return self.value->scope; },
          "Where it lies: \"global\", \"local\", \"register\", or a name of the target's.")
      .def_prop_ro(
          "constant", [](const BufferRef& self) { return self.value->constant; },
          "Its contents do not change between calls, as those of weights.")
      .def("__repr__", [](const BufferRef& self) { return shape_text(*self.value); });
}

/// Workloads are values: compared, kept in sets, pickled.
void bind_value(nb::class_<WorkloadRef>& workload) {
  workload
      .def("__eq__",
           [](const WorkloadRef& self, const WorkloadRef& other) {
             return self.value->hash == other.value->hash && self.value->key == other.value->key;
           })
      .def("__eq__", [](const WorkloadRef&, nb::handle) { return false; })
      .def("__hash__", [](const WorkloadRef& self) { return static_cast<int64_t>(self.value->hash >> 1); })
      .def("__repr__", [](const WorkloadRef& self) { return workload_text(*self.value); })
      .def("__str__", [](const WorkloadRef& self) { return self.value->key; })
      .def("__reduce__", [](const WorkloadRef& self) -> Reduced {
        nb::dict params;
        const auto [name, given] = parse_workload_text(self.value->key);
        for (const auto& [param, value] : given) params[param.c_str()] = value;
        return nb::make_tuple(nb::module_::import_("tunesmith._pickles").attr("workload"),
                              nb::make_tuple(self.value->definition + "\n", params));
      });
}

nb::class_<WorkloadRef> bind_workload_class(nb::module_& module) {
  return nb::class_<WorkloadRef>(module, "Workload", R"(A tensor computation of fixed shapes.

    Workload("gmm:n=1024,m=1024,k=1024")       a name of workloads(), with parameters
    Workload("gmm", n=1024, m=1024, k=1024)    the same
    Workload("mine.yaml", n=64)                a file
    Workload('''name: add ...''')              its text, of several lines

The same computation is the same task, with the same records, whatever it is made from. Raises UserError with the line
and a caret.)")
      .def(
          "__init__",
          [](WorkloadRef* self, nb::handle text, const nb::kwargs& params) {
            new (self) WorkloadRef{
                std::make_shared<const Workload>(load_workload(path_from(text), params_of(params)))};
          },
          nb::arg("text"), nb::arg("params"),
          nb::sig("def __init__(self, text: PathLike, "
                  "**params: Param) -> None"))
      .def_prop_ro(
          "key", [](const WorkloadRef& self) { return self.value->key; },
          "The canonical text, with all parameters.")
      .def_prop_ro(
          "name", [](const WorkloadRef& self) { return self.value->name; }, "Without its parameters.")
      .def_prop_ro(
          "params",
          [](const WorkloadRef& self) -> DictOf<std::variant<int64_t, std::string>> {
            nb::dict params;
            for (const WorkloadParam& param : self.value->params) {
              const auto* number = std::get_if<int64_t>(&param.value);
              params[param.name.c_str()] = number ? nb::cast(*number) : nb::cast(param.value_text());
            }
            return params;
          },
          "Parameters by name: int, or the name of a data type.")
      .def_prop_ro(
          "inputs", [](const WorkloadRef& self) { return buffers_of(self.value->program.inputs); },
          "A list of Buffer, in the order of a kernel's arguments.")
      .def_prop_ro(
          "outputs", [](const WorkloadRef& self) { return buffers_of(self.value->program.outputs); },
          "A list of Buffer, in the order of a kernel's results.")
      .def_prop_ro(
          "definition", [](const WorkloadRef& self) { return self.value->definition; },
          "The text of its file.")
      .def_prop_ro(
          "hash", [](const WorkloadRef& self) { return hex64(self.value->hash); },
          "Of what is computed, 16 hexadecimal digits: equal for equal computations, whatever their names.")
      .def_prop_ro(
          "flops", [](const WorkloadRef& self) { return self.value->flops; },
          "Arithmetic operations of one call.")
      .def_prop_ro(
          "bytes_min", [](const WorkloadRef& self) { return self.value->bytes_min; },
          "Bytes of all inputs and outputs.")
      .def_prop_ro(
          "program",
          [](const WorkloadRef& self) {
            return ProgramRef{std::shared_ptr<const Program>(self.value, &self.value->program), nullptr};
          },
          "The unscheduled program.");
}

}  // namespace

void bind_workload(nb::module_& module) {
  bind_buffer(module);
  nb::class_<WorkloadRef> workload = bind_workload_class(module);
  bind_value(workload);
  module.def(
      "workloads",
      []() -> DictOf<nb::str> {
        const WorkloadLibrary library;
        nb::dict all;
        for (const std::string& name : library.list())
          all[name.c_str()] = library.definition(name).description();
        return all;
      },
      "The workloads that come with Tunesmith: a line of description by name.");
}

}  // namespace tunesmith::python
