#include "tunesmith/support/child_process.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tunesmith/support/error.h"
#include "tunesmith/support/read_to_end.h"

namespace tunesmith {
namespace {

[[noreturn]] void work_in_child(const std::function<void(int)>& work, int pipe, int output, int seconds) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  // Handlers of this process speak of what it does itself.
  for (const int number : {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGALRM}) signal(number, SIG_DFL);
  signal(SIGINT, SIG_IGN);
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  alarm(static_cast<unsigned>(seconds));
  work(pipe);
  _exit(0);
}

std::string beginning_of(int descriptor) {
  std::array<char, 4096> buffer;
  const ssize_t got = pread(descriptor, buffer.data(), buffer.size(), 0);
  return {buffer.data(), got > 0 ? static_cast<size_t>(got) : 0};
}

}  // namespace

ChildEnd run_in_child(const std::function<void(int pipe)>& work, int seconds) {
  const int output = memfd_create("output", MFD_CLOEXEC);
  std::array<int, 2> ends{};
  if (output < 0 || pipe2(ends.data(), O_CLOEXEC) != 0)
    throw EnvironmentError(fmt::format("a pipe cannot be made: {}", std::strerror(errno)));
  std::fflush(nullptr);  // what is buffered is written once
  const pid_t child = fork();
  if (child == 0) work_in_child(work, ends[1], output, seconds);
  const int error = errno;
  close(ends[1]);
  ChildEnd end;
  if (child > 0) end.sent = read_to_end(ends[0]);
  close(ends[0]);
  int status = 0;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  end.said = beginning_of(output);
  close(output);
  if (child < 0) throw EnvironmentError(fmt::format("a process cannot be started: {}", std::strerror(error)));
  end.whole = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  end.timed_out = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
  if (end.whole || end.timed_out) return end;
  end.ended_by = WIFSIGNALED(status) ? std::string(strsignal(WTERMSIG(status)))
                                     : fmt::format("exit code {}", WEXITSTATUS(status));
  return end;
}

bool write_whole(int descriptor, const std::string& text) {
  for (size_t sent = 0; sent < text.size();) {
    const ssize_t got = write(descriptor, text.data() + sent, text.size() - sent);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return false;
    sent += static_cast<size_t>(got);
  }
  return true;
}

}  // namespace tunesmith
