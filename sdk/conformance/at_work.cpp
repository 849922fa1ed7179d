#include "at_work.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <sys/mman.h>

#include "tunesmith/support/error.h"

namespace tunesmith::conformance {
namespace {

constexpr size_t kNoteBytes = 4096;
char* g_note = nullptr;  // the note of this process's check; null without a check

void write_note(const std::string& text) {
  if (g_note == nullptr) return;
  const size_t length = std::min(text.size(), kNoteBytes - 1);
  std::memcpy(g_note, text.data(), length);
  g_note[length] = '\0';
}

}  // namespace

AtWork::AtWork(const std::string& what) : before_(g_note == nullptr ? "" : g_note) { write_note(what); }
AtWork::~AtWork() { write_note(before_); }

WorkNote::WorkNote() : memory_(nullptr) {
  void* memory = mmap(nullptr, kNoteBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    throw EnvironmentError(fmt::format("no memory for a check: {}", std::strerror(errno)));
  memory_ = static_cast<char*>(memory);
}
WorkNote::~WorkNote() { munmap(memory_, kNoteBytes); }

void WorkNote::take() const { g_note = memory_; }

std::string WorkNote::text() const { return {memory_, strnlen(memory_, kNoteBytes)}; }

}  // namespace tunesmith::conformance
