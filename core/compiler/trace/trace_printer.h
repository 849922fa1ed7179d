// The text form of a trace's instructions.
#pragma once

#include <string>
#include <vector>

#include "tunesmith/trace/trace.h"

namespace tunesmith {

/// Writes instructions in the order of their trace: variables get a letter for their type (b0, l1, v2).
class TracePrinter {
 public:
  /// One line without its end.
  std::string line(const Instruction& instruction) { return line(instruction, {}); }
  /// With the outputs called so from here on; without names as usual.
  std::string line(const Instruction& instruction, const std::vector<std::string>& outputs);
  /// The name of the variable where it was defined.
  const std::string& name(TraceVar var) const;

 private:
  void write(std::string& out, const Arg& arg, ParamType type) const;
  std::vector<std::string> names_;  // of the variables, by index
};

}  // namespace tunesmith
