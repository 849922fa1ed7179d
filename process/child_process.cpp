#include "tunesmith/process/child_process.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tunesmith/support/error.h"

namespace tunesmith {
namespace {

using Clock = std::chrono::steady_clock;

/// In seconds: fits a clock's nanoseconds.
constexpr double kMaxWait = 1e6;
constexpr int kFirstPassed = STDERR_FILENO + 1;

/// Copies descriptors to numbers beyond the child's targets,
/// so that none is overwritten before it is copied.
class Sources {
 public:
  explicit Sources(const ProcessSetup& setup) {
    const int beyond = kFirstPassed + static_cast<int>(setup.passed.size());
    for (const std::optional<int>& standard : {setup.input, setup.output, setup.errors}) {
      const int opened = standard ? -1 : open("/dev/null", O_RDWR | O_CLOEXEC);
      copy(standard.value_or(opened), beyond);
      if (opened >= 0) close(opened);
    }
    for (const int descriptor : setup.passed) copy(descriptor, beyond);
  }
  ~Sources() {
    for (const int copy : copies_) close(copy);
  }
  Sources(const Sources&) = delete;
  Sources& operator=(const Sources&) = delete;

  /// The descriptor that becomes number i of the child, for each i.
  const std::vector<int>& copies() const { return copies_; }

 private:
  void copy(int descriptor, int beyond) {
    const int made = fcntl(descriptor, F_DUPFD_CLOEXEC, beyond);
    if (made < 0)
      throw EnvironmentError(
          fmt::format("cannot create a descriptor for a process: {}", std::strerror(errno)));
    copies_.push_back(made);
  }

  std::vector<int> copies_;
};

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

void set_limits(pid_t process, const ProcessSetup& setup) {
  for (const auto& [resource, most] : setup.limits) {
    const rlimit limit{most, most};
    prlimit(process, static_cast<__rlimit_resource>(resource), &limit, nullptr);
  }
}

/// Runs in the child.
[[noreturn]] void work_as_copy(const std::function<int()>& work, const ProcessSetup& setup,
                               const Sources& sources, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0);  // it ended before
  if (setup.own_group) setpgid(0, 0);
  for (int number = 0; number < kFirstPassed; ++number)
    dup2(sources.copies()[static_cast<size_t>(number)], number);
  _exit(work());
}

ProcessEnd end_of(int status, const rusage& usage) {
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  ProcessEnd end;
  end.cause = WIFSIGNALED(status) ? ProcessEnd::Cause::Signalled : ProcessEnd::Cause::Exited;
  end.code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
  end.cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  return end;
}

}  // namespace

std::string ProcessEnd::str() const {
  switch (cause) {
    case Cause::Exited:
      return fmt::format("exit code {}", code);
    case Cause::Signalled:
      return strsignal(code);
    case Cause::TimedOut:
      return "time-out";
  }
  throw InternalError("a process ended for no cause");
}

ChildProcess::ChildProcess(const std::vector<std::string>& command, const ProcessSetup& setup)
    : own_group_(setup.own_group) {
  const Sources sources(setup);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  int number = 0;
  for (const int copy : sources.copies()) posix_spawn_file_actions_adddup2(&actions, copy, number++);
  posix_spawn_file_actions_addclosefrom_np(&actions, number);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(
      &attributes, static_cast<short>(POSIX_SPAWN_SETSIGMASK | (own_group_ ? POSIX_SPAWN_SETPGROUP : 0)));
  std::vector<std::string> words = command;
  std::vector<std::string> variables = setup.environment.value_or(std::vector<std::string>());
  const std::vector<char*> arguments = pointers_to(words);
  const std::vector<char*> environment = pointers_to(variables);
  const int error = posix_spawnp(&id_, words.front().c_str(), &actions, &attributes, arguments.data(),
                                 setup.environment ? environment.data() : environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    id_ = -1;
    throw EnvironmentError(fmt::format("{}: cannot be started: {}", command.front(), std::strerror(error)));
  }
  set_limits(id_, setup);
}

ChildProcess::ChildProcess(const std::function<int()>& work, const ProcessSetup& setup)
    : own_group_(setup.own_group) {
  check_invariant(setup.passed.empty() && !setup.environment, "a copy has what this process has");
  const Sources sources(setup);
  std::fflush(nullptr);  // else the copy writes buffered output again
  const pid_t parent = getpid();
  id_ = fork();
  if (id_ == 0) {
    set_limits(0, setup);
    work_as_copy(work, setup, sources, parent);
  }
  if (id_ < 0) throw EnvironmentError(fmt::format("a process cannot be started: {}", std::strerror(errno)));
  if (own_group_) setpgid(id_, id_);  // here, too: kill() may come before the child does it
}

ChildProcess::~ChildProcess() { destroy(); }

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : id_(std::exchange(other.id_, -1)), own_group_(other.own_group_) {}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  if (this != &other) {
    destroy();
    id_ = std::exchange(other.id_, -1);
    own_group_ = other.own_group_;
  }
  return *this;
}

void ChildProcess::destroy() {
  if (id_ < 0) return;
  kill();
  wait();
}

void ChildProcess::kill() const {
  if (id_ > 0) ::kill(own_group_ ? -id_ : id_, SIGKILL);
}

ProcessEnd ChildProcess::wait() {
  int status = 0;
  rusage usage{};
  while (wait4(id_, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  id_ = -1;
  return end_of(status, usage);
}

ProcessEnd ChildProcess::wait(double seconds) {
  if (seconds > kMaxWait) return wait();
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                           std::chrono::duration<double>(std::max(seconds, 0.0)));
  std::chrono::microseconds pause{100};
  int status = 0;
  rusage usage{};
  while (wait4(id_, &status, WNOHANG, &usage) == 0) {
    if (Clock::now() >= deadline) {
      kill();
      ProcessEnd end = wait();
      end.cause = ProcessEnd::Cause::TimedOut;
      return end;
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::microseconds(5000));
  }
  id_ = -1;
  return end_of(status, usage);
}

}  // namespace tunesmith
