// A process to be killed, and what it reported before.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tunesmith::test {

/// A child process that reports ids, one a line, through a pipe.
class Child {
 public:
  explicit Child(const std::function<int(int report)>& body) {
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    pid_ = fork();
    if (pid_ == 0) {
      close(ends[0]);
      _exit(body(ends[1]));
    }
    close(ends[1]);
    read_end_ = ends[0];
  }
  ~Child() {
    if (pid_ > 0) end(SIGKILL);
    close(read_end_);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void end(int signal) {
    kill(pid_, signal);
    wait();
  }
  int wait() {
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = -1;
    return status;
  }
  /// Waits until the child has reported something, has ended, or half a minute is over.
  void wait_for_report() const {
    pollfd ready{read_end_, POLLIN, 0};
    poll(&ready, 1, 30'000);
  }
  /// Waits for the child's end. A line cut off in the middle does not count.
  std::vector<std::string> reported() const {
    std::string text;
    char buffer[4096];
    for (ssize_t n = 0; (n = read(read_end_, buffer, sizeof buffer)) > 0;)
      text.append(buffer, static_cast<size_t>(n));
    std::vector<std::string> ids;
    for (size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
      ids.push_back(text.substr(begin, end - begin));
    }
    return ids;
  }

 private:
  pid_t pid_ = -1;
  int read_end_ = -1;
};

inline void report_id(int report, const std::string& id) {
  const std::string line = id + "\n";
  if (write(report, line.data(), line.size()) != static_cast<ssize_t>(line.size())) _exit(3);
}

}  // namespace tunesmith::test
