// Programs: printed, compared, run in the interpreter.
#include <cstring>

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <tunesmith/ir/printer.h>
#include <tunesmith/support/hash.h>
#include <tunesmith/verification/interpreter.h>

#include "arrays.h"
#include "errors.h"
#include "refs.h"

namespace tunesmith::python {
namespace {

std::string program_text(const ProgramRef& self) {
  if (!self.lowered || !self.lowered->prepare) return to_string(self.shown());
  return fmt::format("# once, for constant inputs\n{}\n{}", to_string(self.lowered->prepare->program),
                     to_string(self.lowered->program));
}

/// For a lowered program, the arguments of the program before lowering.
const Program& arguments_of(const ProgramRef& self) {
  return self.program ? *self.program : self.lowered->program;
}

Tensor tensor_of(nb::handle array, const BufferNode& buffer, size_t position) {
  const ArrayView view(array, buffer, position, false);
  Tensor tensor = Tensor::like(buffer);
  std::memcpy(tensor.bytes.data(), view.data(), tensor.bytes.size());
  return tensor;
}

nb::object interpret_on(const ProgramRef& self, const nb::args& arrays, bool check) {
  const Program& program = arguments_of(self);
  if (arrays.size() != program.inputs.size())
    throw UserError(
        fmt::format("expected {} arrays, the inputs, not {}", program.inputs.size(), arrays.size()));
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < program.inputs.size(); ++i)
    tensors.push_back(tensor_of(arrays[i], *program.inputs[i], i));
  for (const Buffer& output : program.outputs) tensors.push_back(Tensor::like(*output));
  const InterpretOptions options{check, check};
  {
    const nb::gil_scoped_release unlocked;
    if (self.lowered) {
      interpret(*self.lowered, tensors, options);
    } else {
      interpret(*self.program, tensors, options);
    }
  }
  nb::list results;
  for (size_t i = 0; i < program.outputs.size(); ++i) {
    const BufferNode& output = *program.outputs[i];
    const nb::object like = arrays.size() > 0 ? nb::object(arrays[0]) : nb::object(nb::none());
    nb::object array = array_maker(output)(like);
    const ArrayView view(array, output, i, true);
    const Tensor& tensor = tensors[program.inputs.size() + i];
    std::memcpy(view.data(), tensor.bytes.data(), tensor.bytes.size());
    results.append(array);
  }
  return results.size() == 1 ? nb::object(results[0]) : nb::object(nb::tuple(results));
}

}  // namespace

void bind_program(nb::module_& module) {
  nb::class_<ProgramRef>(
      module, "Program",
      "Inputs, outputs, intermediates and a tree of loops and blocks. Printed as text; `==` compares what it "
      "computes and how, whatever the names.")
      .def_prop_ro(
          "name", [](const ProgramRef& self) { return self.shown().name; }, "Of the workload.")
      .def_prop_ro(
          "inputs", [](const ProgramRef& self) { return buffers_of(self.shown().inputs); },
          "A list of Buffer.")
      .def_prop_ro(
          "outputs", [](const ProgramRef& self) { return buffers_of(self.shown().outputs); },
          "A list of Buffer.")
      .def_prop_ro(
          "intermediates", [](const ProgramRef& self) { return buffers_of(self.shown().intermediates); },
          "A list of Buffer: those that are neither.")
      .def_prop_ro(
          "is_lowered", [](const ProgramRef& self) { return self.lowered != nullptr; },
          "Is it what a target compiles? Then it takes no further transformations.")
      .def_prop_ro(
          "hash", [](const ProgramRef& self) { return hex64(structural_hash(self.shown())); },
          "16 hexadecimal digits, the same on every machine; no name counts.")
      .def(
          "run", &interpret_on, nb::arg("arrays"), nb::kw_only(), nb::arg("check") = true,
          nb::sig("def run(self, *arrays: Array, check: bool = True) -> typing.Any"),
          R"(Runs it in the interpreter, slowly and rightly, and answers its output, or a tuple of its outputs.

`arrays` are its inputs in order: row-major arrays of its shapes and types (numpy, torch, DLPack; bf16 in numpy as the
bits in uint16). With `check`, races of parallel loops and reads of what nothing has written raise InterpreterError.
Raises UserError for arrays that do not fit.)")
      .def("__eq__",
           [](const ProgramRef& self, const ProgramRef& other) {
             return structural_hash(self.shown()) == structural_hash(other.shown());
           })
      .def("__eq__", [](const ProgramRef&, nb::handle) { return false; })
      .def("__hash__",
           [](const ProgramRef& self) { return static_cast<int64_t>(structural_hash(self.shown()) >> 1); })
      .def("__str__", &program_text)
      .def("__repr__", &program_text);
}

}  // namespace tunesmith::python
