#include "tunesmith/interp/interpreter.h"

#include <fmt/format.h>

#include "interp/machine.h"

namespace tunesmith {
namespace {

void check_argument(const BufferNode& buffer, const Tensor& tensor) {
  if (tensor.dtype == buffer.dtype && tensor.shape == buffer.shape) return;
  throw InterpreterError(fmt::format("argument {} is {}[{}], given {}[{}]", buffer.name, buffer.dtype.str(),
                                     fmt::join(buffer.shape, ", "), tensor.dtype.str(),
                                     fmt::join(tensor.shape, ", ")));
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
  const interp::ProgramCode code = interp::compile(program);
  for (size_t i = 0; i < count; ++i) check_argument(*code.buffers[i], arguments[i]);

  interp::Machine machine(code, inputs, options);
  for (size_t i = 0; i < inputs; ++i) machine.storage(i).load_from(arguments[i]);
  machine.run();
  for (size_t i = inputs; i < count; ++i) machine.check_complete(i);
  for (size_t i = inputs; i < count; ++i) machine.storage(i).store_to(arguments[i]);
}

}  // namespace tunesmith
