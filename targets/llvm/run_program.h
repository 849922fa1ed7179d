// Runs another program and waits for it.
#pragma once

#include <string>
#include <vector>

namespace tunesmith::llvm_target {

struct ProgramResult {
  /// The exit status, or 128 + the signal that ended it.
  int status = 0;
  /// Standard output and error as they came.
  std::string output;
};

/// The program's path from PATH, or "".
std::string find_program(const std::string& name);

/// Without a shell. Throws EnvironmentError when it cannot be started.
ProgramResult run_program(const std::vector<std::string>& command);

}  // namespace tunesmith::llvm_target
