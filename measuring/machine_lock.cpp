#include "tunesmith/measuring/machine_lock.h"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tunesmith {
namespace {

/// Polls, since Ctrl-C does not interrupt a blocking flock().
constexpr std::chrono::milliseconds kPoll{2};

/// A descriptor, or -1 and errno. The first process creates
/// the file, readable by all, which suffices for locking.
int open_lock(const std::filesystem::path& file) {
  // A link, a device or a pipe at this path is not opened, or does no harm.
  constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
  int descriptor = open(file.c_str(), kFlags);
  if (descriptor < 0 && errno == ENOENT) {
    descriptor = open(file.c_str(), kFlags | O_CREAT | O_EXCL, 0644);
    if (descriptor >= 0) fchmod(descriptor, 0644);  // whatever the umask
    if (descriptor < 0 && errno == EEXIST) descriptor = open(file.c_str(), kFlags);
  }
  struct stat opened{};
  if (descriptor >= 0 && fstat(descriptor, &opened) == 0 && !S_ISREG(opened.st_mode)) {
    close(descriptor);
    errno = EINVAL;
    return -1;
  }
  return descriptor;
}

/// Is the opened file still the one of this name? After a deletion, other processes lock a new file.
bool still_there(int descriptor, const std::filesystem::path& file) {
  struct stat opened{};
  struct stat named{};
  return fstat(descriptor, &opened) == 0 && lstat(file.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

}  // namespace

MachineLock::MachineLock(std::filesystem::path file, std::function<void(const std::string&)> say)
    : file_(std::move(file)), say_(std::move(say)) {}

std::filesystem::path MachineLock::default_file() {
  if (const char* chosen = std::getenv("TUNESMITH_MACHINE_LOCK"); chosen != nullptr && *chosen != '\0')
    return chosen;
  for (const char* folder : {"/run/lock", "/tmp"}) {
    struct stat found{};
    // By its mode, not by this user's permissions: all users must choose the same folder.
    constexpr mode_t kEverybodys = S_ISVTX | S_IRWXO;
    if (stat(folder, &found) == 0 && S_ISDIR(found.st_mode) && (found.st_mode & kEverybodys) == kEverybodys)
      return std::filesystem::path(folder) / "tunesmith.lock";
  }
  return "/tmp/tunesmith.lock";
}

MachineLock::Turn MachineLock::wait(Use use, const std::atomic<bool>* stop) {
  const auto begin = std::chrono::steady_clock::now();
  // A waiting process holds the gate, so the previous holder cannot take the next turn as well.
  std::filesystem::path gate = file_;
  gate += ".next";
  const std::shared_ptr<const void> first = lock(gate, LOCK_EX, stop);
  Turn turn;
  if (first) turn.held_ = lock(file_, use == Use::Measure ? LOCK_EX : LOCK_SH, stop);
  waited_seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return turn;
}

std::shared_ptr<const void> MachineLock::lock(const std::filesystem::path& file, int operation,
                                              const std::atomic<bool>* stop) {
  int descriptor = -1;
  while (stop == nullptr || !stop->load()) {
    if (descriptor < 0) descriptor = open_lock(file);
    const bool locked = descriptor >= 0 && flock(descriptor, operation | LOCK_NB) == 0;
    if (locked && still_there(descriptor, file)) {
      return {static_cast<const void*>(this), [descriptor](const void*) { close(descriptor); }};
    }
    if (locked) {
      close(descriptor);
      descriptor = -1;
      continue;
    }
    if (descriptor < 0 || (errno != EWOULDBLOCK && errno != EINTR)) {
      if (!std::exchange(said_missing_, true) && say_) {
        say_(
            fmt::format("{}: {}: this run cannot lock the machine, so concurrent runs may disturb each other",
                        file.string(), std::strerror(errno)));
      }
      break;
    }
    if (!std::exchange(said_waiting_, true) && say_)
      say_("waiting: another run is measuring on this machine");
    std::this_thread::sleep_for(kPoll);
  }
  if (descriptor >= 0) close(descriptor);
  return nullptr;
}

}  // namespace tunesmith
