#include "tunesmith/verification/interpreter.h"

#include <algorithm>

#include <fmt/format.h>

#include "interp/machine.h"
#include "tunesmith/ir/extents.h"

namespace tunesmith {
namespace {

void check_argument(const BufferNode& buffer, const Tensor& tensor) {
  if (tensor.dtype == buffer.dtype && tensor.shape == buffer.shape) return;
  throw InterpreterError(fmt::format("argument {} is {}[{}], given {}[{}]", buffer.name, buffer.dtype.str(),
                                     fmt::join(buffer.shape, ", "), tensor.dtype.str(),
                                     fmt::join(tensor.shape, ", ")));
}

std::vector<int64_t> parameters_of(const Program& program, const InterpretOptions& options) {
  if (options.parameters.empty()) return highest_values(program);
  bool right = options.parameters.size() == program.parameters.size();
  for (size_t i = 0; right && i < program.parameters.size(); ++i) {
    const Var& var = program.parameters[i].var;
    right = options.parameters[i] >= var->lowest && options.parameters[i] <= var->highest;
  }
  if (right) return options.parameters;
  throw InterpreterError(fmt::format("{} does not accept the parameter values [{}]", program.name,
                                     fmt::join(options.parameters, ", ")));
}

}  // namespace

InterpreterError::~InterpreterError() = default;

void interpret(const Program& program, std::span<Tensor> arguments, const InterpretOptions& options) {
  const size_t inputs = program.inputs.size();
  const size_t count = inputs + program.outputs.size();
  if (arguments.size() != count) {
    throw InterpreterError(
        fmt::format("{} takes {} arguments, given {}", program.name, count, arguments.size()));
  }
  const interp::ProgramCode code = interp::compile(program, parameters_of(program, options));
  for (size_t i = 0; i < count; ++i) check_argument(*code.buffers[i], arguments[i]);

  interp::Machine machine(code, inputs, options);
  for (size_t i = 0; i < inputs; ++i) machine.storage(i).load_from(arguments[i]);
  machine.run();
  for (size_t i = inputs; i < count; ++i) machine.check_complete(i);
  for (size_t i = inputs; i < count; ++i) machine.storage(i).store_to(arguments[i]);
}

void interpret(const LoweredProgram& lowered, std::span<Tensor> arguments, const InterpretOptions& options) {
  const Program& program = lowered.program;
  if (!lowered.prepare) return interpret(program, arguments, options);
  const size_t given = program.inputs.size() - lowered.prepare->program.outputs.size();
  check_invariant(arguments.size() == given + program.outputs.size(), "one tensor for each argument");
  const auto inputs_end = arguments.begin() + static_cast<std::ptrdiff_t>(given);
  std::vector<Tensor> prepared;
  for (const Buffer& input : lowered.prepare->program.inputs) {
    const auto place = std::find(program.inputs.begin(), program.inputs.end(), input);
    prepared.push_back(arguments[static_cast<size_t>(place - program.inputs.begin())]);
  }
  const auto made = static_cast<std::ptrdiff_t>(prepared.size());
  for (const Buffer& made_once : lowered.prepare->program.outputs)
    prepared.push_back(Tensor::like(*made_once));
  // Gaps between written elements are not checked.
  InterpretOptions lenient = options;
  lenient.check_uninitialized = false;
  lenient.parameters.clear();
  interpret(lowered.prepare->program, prepared, lenient);
  std::vector<Tensor> all(arguments.begin(), inputs_end);
  all.insert(all.end(), prepared.begin() + made, prepared.end());
  all.insert(all.end(), inputs_end, arguments.end());
  interpret(program, all, options);
  std::copy(all.end() - static_cast<std::ptrdiff_t>(program.outputs.size()), all.end(), inputs_end);
}

}  // namespace tunesmith
