#include "isolate.h"

#include <csignal>
#include <cstdio>

#include <fmt/format.h>

#include "at_work.h"
#include "tunesmith/process/run_process.h"
#include "tunesmith/support/error.h"

namespace tunesmith::conformance {
namespace {

constexpr char kSeparator = '\0';

/// The last lines of the output, which contain the message of whatever ended the process.
std::string last_lines(std::string text) {
  constexpr size_t kMaxLines = 5;
  constexpr size_t kMaxBytes = 2048;
  const bool cut = text.size() > kMaxBytes;
  if (cut) text.erase(0, text.size() - kMaxBytes);
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  size_t from = text.size();
  for (size_t lines = 0; lines < kMaxLines && from != std::string::npos && from > 0; ++lines)
    from = text.rfind('\n', from - 1);
  if (from == std::string::npos || from == 0) return cut ? "... " + text : text;
  return "... " + text.substr(from + 1);
}

Verdict run(const std::function<Verdict()>& check) {
  try {
    return check();
  } catch (const std::exception& error) {
    return failed(error.what());
  } catch (...) {  // a plugin may throw anything, and the kit must report it
    return failed("it threw something that is no exception", "P12");
  }
}

std::string to_text(const Verdict& verdict) {
  return fmt::format("{}{}{}{}", static_cast<int>(verdict.outcome), verdict.rule, kSeparator, verdict.reason);
}

/// For signals whose names are not descriptive.
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
  const WorkNote note;
  const CopiedWork done = run_in_copy(
      [&](int pipe) {
        note.take();
        const std::string verdict = to_text(run(check));
        std::fflush(nullptr);
        write_whole(pipe, verdict);
      },
      seconds);
  const std::string said = last_lines(done.said);
  const std::string tail = said.empty() ? "" : ": " + said;
  const std::string at = note.text();
  const std::string it = at.empty() ? "it" : at + ": it";
  switch (done.end.cause) {
    case ProcessEnd::Cause::TimedOut:
      return failed(fmt::format("{} did not end within {} seconds{}", it, seconds, tail), "P22");
    case ProcessEnd::Cause::Signalled:
      return failed(
          fmt::format("{} ended its process by: {}{}{}", it, done.end.str(), meaning_of(done.end.code), tail),
          "P12");
    case ProcessEnd::Cause::Exited:
      break;
  }
  if (done.sent.empty())
    return failed(fmt::format("{} ended its process with {}{}", it, done.end.str(), tail), "P12");
  Verdict verdict = parse(done.sent);
  if (verdict.outcome != Outcome::Failed && !said.empty()) return failed("it wrote: " + said, "P21");
  return verdict;
}

}  // namespace tunesmith::conformance
