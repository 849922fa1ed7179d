// Small programs and their arguments for the tests of the interpreter.
#pragma once

#include <string>
#include <vector>

#include <tunesmith/verification/interpreter.h>

#include "random_arguments.h"

namespace tunesmith::test {

/// A program whose root is `body`.
inline Program make_program(std::vector<Buffer> inputs, std::vector<Buffer> outputs, StmtPtr body) {
  Program program;
  program.name = "test";
  program.inputs = std::move(inputs);
  program.outputs = std::move(outputs);
  program.root().append(std::move(body));
  return program;
}

/// Converts an index that is stored as a value to the buffer's type.
inline StmtPtr store(const Buffer& to, std::vector<Expr> indices, const Expr& value, Expr mask = {}) {
  const Expr data = value.dtype().is_index() ? cast(to->dtype, value) : value;
  return std::make_unique<Store>(to, std::move(indices), data, std::move(mask));
}

inline StmtPtr loop(const Var& var, Expr extent, StmtPtr body, LoopKind kind = LoopKind::Serial) {
  auto made = std::make_unique<Loop>(LoopId{0}, var, 0, std::move(extent), std::move(body));
  made->loop_kind = kind;
  return made;
}

inline StmtPtr seq(StmtPtr a, StmtPtr b) {
  auto both = std::make_unique<Seq>();
  both->append(std::move(a));
  both->append(std::move(b));
  return both;
}

inline std::vector<double> values_of(const Tensor& tensor) {
  std::vector<double> values;
  for (int64_t i = 0; i < tensor.elements(); ++i) values.push_back(tensor.get(i));
  return values;
}

/// The error's text, or "" if the program runs.
inline std::string error_of(const Program& program, const InterpretOptions& options = {}) {
  std::vector<Tensor> arguments = random_arguments(program);
  try {
    interpret(program, arguments, options);
    return "";
  } catch (const InterpreterError& error) {
    return error.what();
  }
}

}  // namespace tunesmith::test
