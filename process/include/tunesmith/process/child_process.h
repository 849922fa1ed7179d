// Starts child processes (docs/architecture.md explains the use of posix_spawn).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sys/resource.h>
#include <sys/types.h>

namespace tunesmith {

struct ProcessSetup {
  // The initialisers allow designated initialisers that omit members in GCC 12.
  // NOLINTBEGIN(readability-redundant-member-init)
  /// "NAME=value" for each variable; nothing: inherits this process's variables.
  std::optional<std::vector<std::string>> environment = {};
  /// Descriptors of this process that become standard input, output and error; nothing: /dev/null.
  std::optional<int> input = {};
  std::optional<int> output = {};
  std::optional<int> errors = {};
  /// Descriptors of this process that become 3, 4, ... in the child.
  std::vector<int> passed = {};
  /// RLIMIT_... and its value.
  std::vector<std::pair<int, rlim_t>> limits = {};
  /// Puts the child into a new process group, which does not get a terminal's Ctrl-C; kill() kills the group.
  bool own_group = true;
  // NOLINTEND(readability-redundant-member-init)
};

/// How a process ended.
struct ProcessEnd {
  enum class Cause { Exited, Signalled, TimedOut };

  Cause cause = Cause::Exited;
  int code = 0;            // the exit code, or the signal
  double cpu_seconds = 0;  // processor time, including its own children

  bool succeeded() const { return cause == Cause::Exited && code == 0; }
  /// As a shell reports it: the exit code, or 128 + the signal.
  int status() const { return cause == Cause::Exited ? code : 128 + code; }
  /// "exit code 1", "Aborted", "time-out".
  std::string str() const;
};

/// A child process, killed and reaped by the destructor. Belongs to one
/// thread at a time; several threads may start processes concurrently.
class ChildProcess {
 public:
  /// Runs a program (a path, or a name that is looked up in PATH) with its arguments. It
  /// inherits only the descriptors of `setup` and blocks no signals; its limits apply
  /// from shortly after the start. Throws EnvironmentError if it cannot be started.
  ChildProcess(const std::vector<std::string>& command, const ProcessSetup& setup);
  /// Runs `work` in a copy of this process, and exits with its result, without destructors and
  /// without flushing output buffered here. The copy also has the descriptors of this process
  /// (`passed` and `environment` must be empty), and only this thread: a mutex held by another
  /// thread stays locked. It is killed when this thread ends. Throws EnvironmentError.
  ChildProcess(const std::function<int()>& work, const ProcessSetup& setup);
  ~ChildProcess();
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;

  /// The process id; -1 after waiting for it.
  pid_t id() const { return id_; }
  /// Sends SIGKILL to it, or to its group if it has its own. It must still be waited for.
  void kill() const;
  ProcessEnd wait();
  /// Kills it after `seconds` if it has not ended.
  ProcessEnd wait(double seconds);

 private:
  void destroy();

  pid_t id_ = -1;
  bool own_group_ = true;
};

}  // namespace tunesmith
