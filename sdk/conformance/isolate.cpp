#include "isolate.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "at_work.h"
#include "tunesmith/support/error.h"
#include "tunesmith/support/read_to_end.h"

namespace tunesmith::conformance {
namespace {

constexpr char kSeparator = '\0';

/// The end of what was written, which has the message of whoever ended the process: a few lines.
std::string written_to(int descriptor) {
  constexpr size_t kMaxLines = 5;
  std::array<char, 2048> buffer;
  const off_t size = lseek(descriptor, 0, SEEK_END);
  const off_t begin = size > static_cast<off_t>(buffer.size()) ? size - static_cast<off_t>(buffer.size()) : 0;
  const ssize_t got = pread(descriptor, buffer.data(), buffer.size(), begin);
  std::string text(buffer.data(), got > 0 ? static_cast<size_t>(got) : 0);
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  size_t from = text.size();
  for (size_t lines = 0; lines < kMaxLines && from != std::string::npos && from > 0; ++lines)
    from = text.rfind('\n', from - 1);
  if (from == std::string::npos || from == 0) return begin > 0 ? "... " + text : text;
  return "... " + text.substr(from + 1);
}

Verdict run(const std::function<Verdict()>& check) {
  try {
    return check();
  } catch (const std::exception& error) {
    return failed(error.what());
  } catch (...) {  // a plugin may throw anything, and it is the kit's work to say so
    return failed("it threw something that is no exception", "P12");
  }
}

[[noreturn]] void in_child(const std::function<Verdict()>& check, int answer, int output,
                           const WorkNote& note, int seconds) {
  note.take();
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  signal(SIGALRM, SIG_DFL);
  alarm(static_cast<unsigned>(seconds));
  const Verdict verdict = run(check);
  std::fflush(nullptr);
  const std::string text =
      fmt::format("{}{}{}{}", static_cast<int>(verdict.outcome), verdict.rule, kSeparator, verdict.reason);
  size_t sent = 0;
  while (sent < text.size()) {
    const ssize_t got = write(answer, text.data() + sent, text.size() - sent);
    if (got < 0) _exit(1);
    sent += static_cast<size_t>(got);
  }
  _exit(0);
}

/// Of a signal whose name does not tell.
std::string meaning_of(int signal) {
  if (signal != SIGILL) return {};
  return " (the processor lacks an instruction of it, or the process lacks a permission that one needs)";
}

Verdict parse(const std::string& text) {
  const size_t separator = text.find(kSeparator);
  return {static_cast<Outcome>(text[0] - '0'), text.substr(separator + 1), text.substr(1, separator - 1)};
}

}  // namespace

Verdict isolate(const std::function<Verdict()>& check, int seconds) {
  const int output = memfd_create("output", MFD_CLOEXEC);
  std::array<int, 2> ends{};
  if (output < 0 || pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw EnvironmentError(fmt::format("no pipe for a check: {}", std::strerror(errno)));
  }
  const WorkNote note;
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) in_child(check, ends[1], output, note, seconds);
  close(ends[1]);
  const std::string answer = child > 0 ? read_to_end(ends[0]) : std::string{};
  close(ends[0]);
  int status = 0;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  const std::string said = written_to(output);
  close(output);
  if (child < 0) throw EnvironmentError(fmt::format("no process for a check: {}", std::strerror(errno)));

  const std::string tail = said.empty() ? "" : ": " + said;
  const std::string at = note.text();
  const std::string it = at.empty() ? "it" : at + ": it";
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
    return failed(fmt::format("{} did not end within {} seconds{}", it, seconds, tail), "P22");
  }
  if (WIFSIGNALED(status)) {
    return failed(fmt::format("{} ended its process by: {}{}{}", it, strsignal(WTERMSIG(status)),
                              meaning_of(WTERMSIG(status)), tail),
                  "P12");
  }
  if (answer.empty()) {
    return failed(fmt::format("{} ended its process with exit code {}{}", it, WEXITSTATUS(status), tail),
                  "P12");
  }
  Verdict verdict = parse(answer);
  if (verdict.outcome != Outcome::Failed && !said.empty()) return failed("it wrote: " + said, "P21");
  return verdict;
}

}  // namespace tunesmith::conformance
