#include "tunesmith/process/child_process.h"

#include <array>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <string>

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include "tunesmith/process/run_process.h"
#include "tunesmith/support/error.h"

namespace tunesmith {
namespace {

using testing::HasSubstr;

ProcessResult shell(const std::string& script, const RunOptions& options = {}) {
  return run_process({"sh", "-c", script}, options);
}

/// Do all writers close it within some seconds?
bool has_ended(const Pipe& pipe) {
  pollfd stream{pipe.read_end(), POLLIN, 0};
  char byte = 0;
  return poll(&stream, 1, 20'000) == 1 && read(pipe.read_end(), &byte, 1) == 0;
}

TEST(ChildProcess, SaysHowItEnded) {
  const ProcessResult exited = shell("echo said; echo wrong >&2; exit 3");
  EXPECT_EQ(exited.end.cause, ProcessEnd::Cause::Exited);
  EXPECT_EQ(exited.end.code, 3);
  EXPECT_EQ(exited.end.status(), 3);
  EXPECT_EQ(exited.end.str(), "exit code 3");
  EXPECT_EQ(exited.output, "said\nwrong\n");
  const ProcessResult killed = shell("kill -TERM $$");
  EXPECT_EQ(killed.end.cause, ProcessEnd::Cause::Signalled);
  EXPECT_EQ(killed.end.code, SIGTERM);
  EXPECT_EQ(killed.end.status(), 128 + SIGTERM);
  EXPECT_FALSE(killed.end.succeeded());
  EXPECT_TRUE(shell("exit 0").end.succeeded());
}

TEST(ChildProcess, KeepsErrorsApart) {
  const ProcessResult result = shell("echo said; echo wrong >&2", {.errors = RunOptions::Errors::Apart});
  EXPECT_EQ(result.output, "said\n");
  EXPECT_EQ(result.errors, "wrong\n");
}

TEST(ChildProcess, WhatIsNotThereIsNamed) {
  EXPECT_THAT([] { run_process({"/nowhere/at-all"}); },
              testing::ThrowsMessage<EnvironmentError>(
                  HasSubstr("/nowhere/at-all: cannot be started: No such file")));
}

TEST(ChildProcess, InheritsNoDescriptors) {
  const int open_here = fcntl(STDERR_FILENO, F_DUPFD, 50);  // not close-on-exec
  ASSERT_GE(open_here, 50);
  const std::string script = fmt::format("[ -e /proc/$$/fd/{} ] && echo open || echo closed", open_here);
  EXPECT_EQ(shell(script).output, "closed\n");
  EXPECT_EQ(shell("[ -e /proc/$$/fd/3 ] && echo open || echo closed").output, "closed\n");
  EXPECT_EQ(shell("[ -e /proc/$$/fd/4 ] && [ ! -e /proc/$$/fd/5 ] && echo two",
                  {.passed = {open_here, STDIN_FILENO}})
                .output,
            "two\n");
  EXPECT_EQ(shell("cat").output, "") << "standard input is empty";
  close(open_here);
}

TEST(ChildProcess, GetsDescriptorsInTheirOrder) {
  const MemoryFile first("first"), second("second");
  ASSERT_TRUE(write_whole(first.descriptor(), "one "));
  ASSERT_TRUE(write_whole(second.descriptor(), "two"));
  first.rewind();
  second.rewind();
  // Their numbers in this process do not matter.
  const int three = fcntl(second.descriptor(), F_DUPFD_CLOEXEC, 3);
  EXPECT_EQ(shell("cat <&3; cat <&4", {.passed = {first.descriptor(), three}}).output, "one two");
  first.rewind();
  second.rewind();
  EXPECT_EQ(shell("cat <&4; cat <&3", {.passed = {three, first.descriptor()}}).output, "one two");
  close(three);
}

TEST(ChildProcess, GetsAnEnvironmentAndLimits) {
  Pipe output, gate;
  ProcessSetup setup;
  setup.output = output.write_end();
  setup.passed = {gate.read_end()};
  setup.environment = {"PATH=/usr/bin:/bin", "WORD=given"};
  setup.limits = {{RLIMIT_NOFILE, 17}};
  setenv("TUNESMITH_TEST_OTHER", "inherited", 1);
  ChildProcess process({"sh", "-c", "read line <&3; echo $WORD $TUNESMITH_TEST_OTHER $(ulimit -n)"}, setup);
  unsetenv("TUNESMITH_TEST_OTHER");
  output.close_write();
  gate.close_write();
  const std::array<int, 1> ends{output.read_end()};
  EXPECT_EQ(collect(process, ends).texts.front(), "given 17\n");
}

TEST(ChildProcess, BlocksNoSignals) {
  sigset_t blocked, before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  const ProcessEnd end = shell("kill -TERM $$; exit 0").end;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_EQ(end.cause, ProcessEnd::Cause::Signalled);
}

TEST(ChildProcess, ATimeOutEndsItsChildrenToo) {
  Pipe held;
  RunOptions options;
  options.seconds = 0.2;
  options.passed = {held.write_end()};
  const ProcessResult result = shell("echo begun; sleep 1000 & sleep 1000", options);
  held.close_write();
  EXPECT_EQ(result.end.cause, ProcessEnd::Cause::TimedOut);
  EXPECT_EQ(result.end.str(), "time-out");
  EXPECT_EQ(result.output, "begun\n");
  EXPECT_TRUE(has_ended(held));
}

TEST(ChildProcess, ATimeOutEndsWhatClosedItsOutput) {
  const ProcessResult result = shell("exec >&- 2>&-; sleep 1000", {.seconds = 0.2});
  EXPECT_EQ(result.end.cause, ProcessEnd::Cause::TimedOut);
}

TEST(ChildProcess, EndsWithItsObject) {
  Pipe held;
  ProcessSetup setup;
  setup.passed = {held.write_end()};
  std::optional<ChildProcess> process(std::in_place, std::vector<std::string>{"sleep", "1000"}, setup);
  held.close_write();
  ChildProcess other = std::move(*process);
  EXPECT_EQ(process->id(), -1);
  EXPECT_GT(other.id(), 0);
  process.reset();
  EXPECT_EQ(kill(other.id(), 0), 0) << "the one that was moved from ends nothing";
  process.emplace(std::move(other));
  process.reset();
  EXPECT_TRUE(has_ended(held));
}

TEST(CopiedWork, SendsAndSays) {
  const int number = 42;
  const CopiedWork done = run_in_copy(
      [&](int pipe) {
        dprintf(STDOUT_FILENO, "said");
        write_whole(pipe, fmt::format("sent {}", number));
      },
      20);
  EXPECT_TRUE(done.end.succeeded());
  EXPECT_EQ(done.sent, "sent 42");
  EXPECT_EQ(done.said, "said");
}

TEST(CopiedWork, MayEndItsProcess) {
  const CopiedWork aborted = run_in_copy(
      [](int pipe) {
        write_whole(pipe, "begun");
        std::abort();
      },
      20);
  EXPECT_EQ(aborted.sent, "begun");
  EXPECT_EQ(aborted.end.code, SIGABRT);
  EXPECT_EQ(aborted.end.str(), "Aborted");
  const CopiedWork ended = run_in_copy([](int) { _exit(0); }, 20);
  EXPECT_TRUE(ended.end.succeeded());
  EXPECT_EQ(ended.sent, "");
  const CopiedWork hung = run_in_copy([](int) { pause(); }, 1);
  EXPECT_EQ(hung.end.cause, ProcessEnd::Cause::TimedOut);
}

TEST(CopiedWork, OfMuchTheBeginningAndTheEndAreKept) {
  const CopiedWork done =
      run_in_copy([](int) { write_whole(STDERR_FILENO, "first" + std::string(100'000, ' ') + "last"); }, 20);
  EXPECT_THAT(done.said, testing::AllOf(testing::StartsWith("first"), testing::EndsWith("last")));
  EXPECT_LT(done.said.size(), 10'000U);
}

}  // namespace
}  // namespace tunesmith
