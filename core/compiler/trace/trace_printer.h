// Prints the instructions of a trace.
#pragma once

#include <string>
#include <vector>

#include "tunesmith/trace/trace.h"

namespace tunesmith {

/// Call it for instructions in the order of their trace. Variables are named by a letter for their type (b0,
/// l1, v2).
class TracePrinter {
 public:
  /// One line without the line end.
  std::string line(const Instruction& instruction) { return line(instruction, {}); }
  /// With these names for its outputs, here and in later lines; if empty, default names.
  std::string line(const Instruction& instruction, const std::vector<std::string>& outputs);
  /// The name that the variable got at its definition.
  const std::string& name(TraceVar var) const;

 private:
  void write(std::string& out, const Arg& arg, ParamType type) const;
  std::vector<std::string> names_;  // of the variables, by index
};

}  // namespace tunesmith
