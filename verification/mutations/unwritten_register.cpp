#include "tunesmith/verification/unwritten_register.h"

#include <string>
#include <vector>

#include "tunesmith/ir/visit.h"
#include "tunesmith/verification/interpreter.h"

namespace tunesmith {

bool reads_unwritten_register(const Program& program, const LowerOptions& options) {
  const LoweredProgram lowered = lower(program, options);
  std::vector<Tensor> arguments;
  for (const Buffer& input : program.inputs) {
    arguments.push_back(Tensor::like(*input));
    arguments.back().fill_random(arguments.size());
  }
  for (const Buffer& output : program.outputs) arguments.push_back(Tensor::like(*output));
  try {
    interpret(lowered, arguments);
  } catch (const InterpreterError& error) {
    const std::string what = error.what();
    if (what.find("is read before anything was written there") == std::string::npos) return false;
    return any_of_stmt(lowered.program.root(), [&](const Stmt& stmt) {
      const Allocate* allocate = stmt.as<Allocate>();
      return allocate != nullptr && allocate->buffer->scope == kScopeRegister &&
             what.starts_with(allocate->buffer->name + "[");
    });
  }
  return false;
}

}  // namespace tunesmith
