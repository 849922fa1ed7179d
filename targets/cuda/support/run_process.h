// A child process with a time limit.
#pragma once

#include <string>
#include <vector>

namespace tunesmith::cuda {

struct ProcessResult {
  /// The exit code, or -1 when a signal ended it.
  int exit_code = -1;
  int signal = 0;
  bool timed_out = false;
  std::string output;      // standard output
  std::string errors;      // standard error
  double seconds = 0;      // of the clock
  double cpu_seconds = 0;  // of the processor, its own children included

  bool succeeded() const { return exit_code == 0 && !timed_out; }
};

/// Runs `command` (a path, and its arguments), standard input empty, and waits for it. After
/// `time_limit_seconds` the process and its children are killed. `passed_descriptor`, if not negative,
/// becomes descriptor 3 of the process. Several threads may run processes at once. Throws EnvironmentError
/// when it cannot be started.
ProcessResult run_process(const std::vector<std::string>& command, double time_limit_seconds,
                          int passed_descriptor = -1);

/// The first of `names` in the folders of PATH, or "".
std::string find_in_path(const std::vector<std::string>& names);

}  // namespace tunesmith::cuda
