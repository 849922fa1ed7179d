// The one way in which processes are started (docs/architecture.md says why it is posix_spawn).
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
  // The initialisers let GCC 12 take designated initialisers that leave members out.
  // NOLINTBEGIN(readability-redundant-member-init)
  /// "NAME=value" of each variable; nothing: those of this process.
  std::optional<std::vector<std::string>> environment = {};
  /// Descriptors of this process that become the standard ones; nothing: /dev/null.
  std::optional<int> input = {};
  std::optional<int> output = {};
  std::optional<int> errors = {};
  /// Descriptors of this process that become 3, 4, ...
  std::vector<int> passed = {};
  /// RLIMIT_..., and the most that it may have.
  std::vector<std::pair<int, rlim_t>> limits = {};
  /// Is it, with its children, a process group, which a terminal's Ctrl-C does not reach and kill() ends?
  bool own_group = true;
  // NOLINTEND(readability-redundant-member-init)
};

/// How a process ended.
struct ProcessEnd {
  enum class Cause { Exited, Signalled, TimedOut };

  Cause cause = Cause::Exited;
  int code = 0;            // the exit code, or the signal
  double cpu_seconds = 0;  // of the processor, its own children included

  bool succeeded() const { return cause == Cause::Exited && code == 0; }
  /// As a shell says it: the exit code, or 128 + the signal.
  int status() const { return cause == Cause::Exited ? code : 128 + code; }
  /// "exit code 1", "Aborted", "time-out".
  std::string str() const;
};

/// A child process, killed and reaped when this goes. Belongs to one thread at a time; several threads may
/// start processes at once.
class ChildProcess {
 public:
  /// Runs a program: a path, or a name that is looked up in PATH, and its arguments. It inherits no
  /// descriptors but those of `setup`, blocks no signals, and its limits hold from shortly after it began.
  /// Throws EnvironmentError where it cannot be started.
  ChildProcess(const std::vector<std::string>& command, const ProcessSetup& setup);
  /// Runs `work` in a copy of this process, and ends with what it returns as exit code, without destructors
  /// and output that is buffered here. The copy has the descriptors of this process, too (`passed` and
  /// `environment` must be empty), and this thread alone: a mutex that another thread holds stays locked
  /// there. It is killed when this thread ends. Throws EnvironmentError.
  ChildProcess(const std::function<int()>& work, const ProcessSetup& setup);
  ~ChildProcess();
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;

  /// -1 when it has been waited for.
  pid_t id() const { return id_; }
  /// Sends SIGKILL to it, and to its group where that is its own. It must still be waited for.
  void kill() const;
  ProcessEnd wait();
  /// Kills it when it has not ended after `seconds`.
  ProcessEnd wait(double seconds);

 private:
  void destroy();

  pid_t id_ = -1;
  bool own_group_ = true;
};

}  // namespace tunesmith
