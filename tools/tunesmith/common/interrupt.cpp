#include "interrupt.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>

#include <fmt/format.h>
#include <unistd.h>

#include <tunesmith/support/error.h>

#include "exit_codes.h"

namespace tunesmith::cli {
namespace {

constexpr long kGraceNanoseconds = 800'000'000;

std::atomic<bool> g_stop{false};
const char* g_last_words = "";
timer_t g_grace{};

void on_interrupt(int /*signal*/) {
  if (g_stop.exchange(true)) _exit(kInterrupted);
  const itimerspec once{{0, 0}, {0, kGraceNanoseconds}};
  timer_settime(g_grace, 0, &once, nullptr);
}

void on_drain(int /*signal*/) {
  if (g_stop.exchange(true)) _exit(kInterrupted);
}

void on_end_of_grace(int /*signal*/) {
  static_cast<void>(!write(STDERR_FILENO, g_last_words, std::strlen(g_last_words)));
  _exit(kInterrupted);
}

void handle(int signal, void (*handler)(int)) {
  struct sigaction action{};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigaction(signal, &action, nullptr);
}

}  // namespace

const std::atomic<bool>& stop_on_interrupt(const char* last_words) {
  g_last_words = last_words;
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGALRM;
  if (timer_create(CLOCK_MONOTONIC, &event, &g_grace) != 0)
    throw EnvironmentError(fmt::format("cannot create a timer for Ctrl-C: {}", std::strerror(errno)));
  handle(SIGALRM, on_end_of_grace);
  handle(SIGINT, on_interrupt);
  handle(SIGTERM, on_interrupt);
  return g_stop;
}

const std::atomic<bool>& drain_on_interrupt() {
  handle(SIGINT, on_drain);
  handle(SIGTERM, on_drain);
  return g_stop;
}

}  // namespace tunesmith::cli
