// Work whose end may be the process's.
#pragma once

#include <functional>
#include <string>

#pragma GCC visibility push(default)
namespace tunesmith {

/// What a child process left behind.
struct ChildEnd {
  std::string sent;    // through the pipe that it was given
  std::string said;    // on standard output and standard error; the first lines
  bool whole = false;  // it did all of its work
  bool timed_out = false;
  std::string ended_by;  // "Aborted", "exit code 1"; "" when it is whole or timed out
};

/// Does `work` in a copy of this process and waits for it, at most `seconds`. The copy has this thread alone:
/// a mutex that another thread holds stays locked there, so the work takes none that are held for long. It
/// dumps no core, and ends without destructors. Throws EnvironmentError when no process can be made.
ChildEnd run_in_child(const std::function<void(int pipe)>& work, int seconds);

/// Writes all of it. False when nobody reads.
bool write_whole(int descriptor, const std::string& text);

}  // namespace tunesmith
#pragma GCC visibility pop
