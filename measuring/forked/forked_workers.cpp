#include "tunesmith/measuring/forked_workers.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tunesmith/process/child_process.h"
#include "tunesmith/support/error.h"

namespace tunesmith {
namespace {

/// In seconds: fits a clock's nanoseconds and poll()'s milliseconds.
constexpr double kMaxTimeOut = 1e6;

using Clock = std::chrono::steady_clock;

/// The kind of a worker's message.
enum class Kind : char { Answer = 'a', UserFault = 'u', EnvironmentFault = 'e' };

bool read_all(int socket, void* data, size_t bytes) {
  auto* at = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t got = read(socket, at, bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    bytes -= static_cast<size_t>(got);
  }
  return true;
}

bool write_all(int socket, const void* data, size_t bytes) {
  const auto* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t put = send(socket, at, bytes, MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    at += put;
    bytes -= static_cast<size_t>(put);
  }
  return true;
}

bool send_message(int socket, Kind kind, const std::string& text) {
  const uint64_t bytes = text.size();
  return write_all(socket, &kind, sizeof kind) && write_all(socket, &bytes, sizeof bytes) &&
         write_all(socket, text.data(), text.size());
}

struct ForkedMessage {
  Kind kind = Kind::Answer;
  std::string text;
};

std::optional<ForkedMessage> receive_forked(int socket) {
  ForkedMessage received;
  uint64_t bytes = 0;
  if (!read_all(socket, &received.kind, sizeof received.kind) || !read_all(socket, &bytes, sizeof bytes))
    return std::nullopt;
  received.text.resize(bytes);
  if (!read_all(socket, received.text.data(), bytes)) return std::nullopt;
  return received;
}

/// Answers questions until the other end is closed.
void answer_questions(const ForkedWork& work, int socket) {
  try {
    const std::function<std::string(size_t)> answer = work.begin();
    size_t question = 0;
    while (read_all(socket, &question, sizeof question))
      if (!send_message(socket, Kind::Answer, answer(question))) return;
  } catch (const UserError& error) {
    send_message(socket, Kind::UserFault, error.what());
  } catch (const std::exception& error) {
    send_message(socket, Kind::EnvironmentFault, error.what());
  }
}

std::string end_text(const ProcessEnd& end) {
  if (end.cause == ProcessEnd::Cause::Signalled)
    return fmt::format("its process was ended by signal {} ({})", end.code, end.str());
  return fmt::format("its process ended with code {}", end.code);
}

class Workers {
 public:
  explicit Workers(const ForkedWork& work) : work_(work), workers_(static_cast<size_t>(work.processes)) {}
  ~Workers() {
    for (Worker& worker : workers_)
      if (worker.process) end(worker, true);
  }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  void run() {
    for (Worker& worker : workers_) ask_next(worker);
    while (std::ranges::any_of(workers_, [](const Worker& worker) { return worker.question.has_value(); }))
      wait();
  }

 private:
  struct Worker {
    std::optional<ChildProcess> process;
    int socket = -1;
    std::optional<size_t> question;
    Clock::time_point deadline;
  };

  void start(Worker& worker) {
    int sockets[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
      throw EnvironmentError(fmt::format("no socket for a process: {}", std::strerror(errno)));
    worker.socket = sockets[0];
    const auto answer = [&] {
      // This copy of the process would keep the other workers' sockets open.
      for (const Worker& other : workers_)
        if (other.socket >= 0) close(other.socket);
      answer_questions(work_, sockets[1]);
      return 0;
    };
    ProcessSetup setup;
    setup.input = STDIN_FILENO;
    setup.output = STDOUT_FILENO;
    setup.errors = STDERR_FILENO;
    worker.process.emplace(answer, setup);
    close(sockets[1]);
  }

  /// Returns how the process ended.
  static std::string end(Worker& worker, bool kill) {
    if (kill) worker.process->kill();
    const ProcessEnd end = worker.process->wait();
    worker.process.reset();
    close(worker.socket);
    worker.socket = -1;
    return end_text(end);
  }

  void ask_next(Worker& worker) {
    worker.question.reset();
    if (next_ == work_.count) return;
    if (!worker.process) start(worker);
    worker.question = next_++;
    worker.deadline =
        work_.time_out_seconds > 0
            ? Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                 std::chrono::duration<double>(std::min(work_.time_out_seconds, kMaxTimeOut)))
            : Clock::time_point::max();
    // wait() finds workers that have ended.
    write_all(worker.socket, &*worker.question, sizeof *worker.question);
  }

  void wait() {
    std::vector<pollfd> sockets;
    std::vector<Worker*> asked;
    Clock::time_point first = Clock::time_point::max();
    for (Worker& worker : workers_) {
      if (!worker.question) continue;
      sockets.push_back({worker.socket, POLLIN, 0});
      asked.push_back(&worker);
      first = std::min(first, worker.deadline);
    }
    int left = -1;
    if (first != Clock::time_point::max()) {
      const auto time = std::chrono::ceil<std::chrono::milliseconds>(first - Clock::now());
      left = static_cast<int>(std::max<int64_t>(time.count(), 0));
    }
    if (poll(sockets.data(), sockets.size(), left) < 0 && errno != EINTR)
      throw EnvironmentError(fmt::format("processes cannot be waited for: {}", std::strerror(errno)));
    for (size_t i = 0; i < asked.size(); ++i) {
      if (sockets[i].revents != 0)
        hear(*asked[i]);
      else if (Clock::now() > asked[i]->deadline)
        lose(*asked[i], true, fmt::format("it has not ended in {:g} seconds", work_.time_out_seconds));
    }
  }

  void hear(Worker& worker) {
    const std::optional<ForkedMessage> received = receive_forked(worker.socket);
    if (!received) {
      lose(worker, false, "");
      return;
    }
    if (received->kind == Kind::UserFault) throw UserError(received->text);
    if (received->kind == Kind::EnvironmentFault) throw EnvironmentError(received->text);
    work_.take(*worker.question, received->text, false);
    ask_next(worker);
  }

  /// `why`: empty if the process's end explains it.
  void lose(Worker& worker, bool kill, const std::string& why) {
    const std::string ended = end(worker, kill);
    work_.take(*worker.question, why.empty() ? ended : why, true);
    ask_next(worker);
  }

  const ForkedWork& work_;
  std::vector<Worker> workers_;
  size_t next_ = 0;
};

}  // namespace

void run_forked(const ForkedWork& work) { Workers(work).run(); }

}  // namespace tunesmith
