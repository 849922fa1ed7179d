#include "findings.h"

#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include <unistd.h>

#include "machine.h"

namespace tunesmith_emulation {
namespace {

constexpr std::array<const char*, size_t(Kind::Count)> kNames = {
    "race",          "read_before_wait", "read_only_path", "missing_proxy_fence", "missing_product_fence",
    "uninitialised", "out_of_bounds",    "misaligned",     "divergent_barrier",   "diverged_warp",
    "thread_left",   "deadlock",         "bad_operand",    "bad_launch",          "fault"};
constexpr uint64_t kSaid = 3;

std::array<uint64_t, size_t(Kind::Count)> counts;

// Unbuffered, because a signal handler may end the process.
void write_line(const char* text, int length) {
  for (const char *at = text, *end = text + length; at < end;) {
    const ssize_t written = write(STDOUT_FILENO, at, size_t(end - at));
    if (written <= 0) _exit(1);
    at += written;
  }
}

const char* order_of_threads() {
  if (machine.running == nullptr) return "";
  switch (machine.order) {
    case Order::Forward:
      return ", threads in forward order";
    case Order::Backward:
      return ", threads in backward order";
    case Order::Random:
      return ", threads in random order";
  }
  return "";
}

void say(Kind kind, const char* format, va_list arguments) {
  if (counts[size_t(kind)]++ >= kSaid) return;
  std::array<char, 512> line;
  std::array<char, 400> what;
  std::vsnprintf(what.data(), what.size(), format, arguments);
  write_line(line.data(), std::snprintf(line.data(), line.size(), "finding\t%s\t%s%s\n", kNames[size_t(kind)],
                                        what.data(), order_of_threads()));
}

}  // namespace

void report(Kind kind, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say(kind, format, arguments);
  va_end(arguments);
}

void report_and_stop(Kind kind, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say(kind, format, arguments);
  va_end(arguments);
  finish_report();
  _exit(0);
}

void need_granule(bool shared, unsigned bytes) {
  std::array<char, 64> line;
  write_line(line.data(), std::snprintf(line.data(), line.size(), "granule\t%s\t%u\n",
                                        shared ? "shared" : "global", bytes));
  _exit(0);
}

void report_counter(const char* name, uint64_t value) {
  std::array<char, 96> line;
  write_line(line.data(), std::snprintf(line.data(), line.size(), "counter\t%s\t%llu\n", name,
                                        static_cast<unsigned long long>(value)));
}

void finish_report() {
  for (size_t kind = 0; kind < counts.size(); ++kind) {
    if (counts[kind] == 0) continue;
    std::array<char, 96> line;
    write_line(line.data(), std::snprintf(line.data(), line.size(), "count\t%s\t%llu\n", kNames[kind],
                                          static_cast<unsigned long long>(counts[kind])));
  }
  write_line("done\n", 5);
}

}  // namespace tunesmith_emulation
