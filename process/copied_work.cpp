#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tunesmith/process/run_process.h"
#include "tunesmith/support/error.h"

namespace tunesmith {
namespace {

/// The kept length at the beginning and at the end of long output.
constexpr off_t kKept = 4096;

std::string part_of(const MemoryFile& file, off_t begin, off_t size) {
  std::string text(static_cast<size_t>(std::max<off_t>(size, 0)), '\0');
  const ssize_t got = pread(file.descriptor(), text.data(), text.size(), begin);
  text.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return text;
}

std::string text_of(const MemoryFile& file) {
  const off_t size = lseek(file.descriptor(), 0, SEEK_END);
  if (size <= 2 * kKept) return part_of(file, 0, size);
  return part_of(file, 0, kKept) + "\n...\n" + part_of(file, size - kKept, kKept);
}

}  // namespace

MemoryFile::MemoryFile(const char* name) : descriptor_(memfd_create(name, MFD_CLOEXEC)) {
  if (descriptor_ < 0)
    throw EnvironmentError(fmt::format("a file in memory cannot be made: {}", std::strerror(errno)));
}

MemoryFile::~MemoryFile() { close(descriptor_); }

void MemoryFile::rewind() const { lseek(descriptor_, 0, SEEK_SET); }

CopiedWork run_in_copy(const std::function<void(int pipe)>& work, int seconds) {
  const MemoryFile output("output");
  Pipe pipe;
  ProcessSetup setup;
  setup.output = setup.errors = output.descriptor();
  setup.limits = {{RLIMIT_CORE, 0}};
  ChildProcess process(
      [&] {
        // This process's handlers refer to its own work.
        for (const int number : {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGALRM}) signal(number, SIG_DFL);
        signal(SIGINT, SIG_IGN);
        work(pipe.write_end());
        return 0;
      },
      setup);
  pipe.close_write();
  const std::array<int, 1> ends{pipe.read_end()};
  Collected collected = collect(process, ends, seconds);
  return {collected.end, std::move(collected.texts.front()), text_of(output)};
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
