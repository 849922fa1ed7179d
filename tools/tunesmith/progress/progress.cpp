#include "progress/progress.h"

#include <cmath>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace tunesmith {

namespace {
/// Three significant digits: 1.23, 12.3, 123.
std::string three_digits(double value) {
  if (value < 9.995) return fmt::format("{:.2f}", value);
  if (value < 99.95) return fmt::format("{:.1f}", value);
  return fmt::format("{:.0f}", value);
}

std::string fastest_text(const Progress& progress) {
  if (!progress.best_seconds) return "no valid program yet";
  // It says "fastest" because the times of the ranking decide which program is best.
  std::string text = "fastest " + seconds_text(*progress.best_seconds);
  if (progress.modelled) text += " modelled";
  if (progress.gflops) text += fmt::format(", {:.1f} {}", *progress.gflops, progress.rate_unit);
  // The peak was measured before the first program, possibly while other work slowed it down.
  if (progress.share_of_peak && *progress.share_of_peak > 1.0) {
    text += progress.modelled ? ", above the multiply-add peak"
                              : ", above the measured multiply-add peak, which may be disturbed";
  } else if (progress.share_of_peak)
    text += fmt::format(", {:.1f} % of peak", 100.0 * *progress.share_of_peak);
  return text;
}

/// "failed 7 (time_out 4, crash 3)"; "" if nothing failed.
std::string failures_text(const Progress& progress, bool with_causes) {
  int64_t failed = 0;
  std::string causes;
  for (const auto& [cause, count] : progress.failures) {
    if (count == 0) continue;
    failed += count;
    causes += fmt::format("{}{} {}", causes.empty() ? "" : ", ", cause, count);
  }
  if (failed == 0) return {};
  return with_causes ? fmt::format("failed {} ({})", failed, causes) : fmt::format("failed {}", failed);
}

bool can_redraw(int descriptor) {
  if (isatty(descriptor) != 1) return false;
  const char* terminal = std::getenv("TERM");
  return terminal == nullptr || std::string_view(terminal) != "dumb";
}

size_t columns(int descriptor) {
  winsize size{};
  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

void write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(descriptor, text.data(), text.size());
    if (written <= 0) return;  // a terminal that closes does not end the run
    text.remove_prefix(static_cast<size_t>(written));
  }
}
}  // namespace

std::string seconds_text(double seconds) {
  // Compares the rounded value with 1000 of the smaller unit.
  if (seconds < 999.5e-9) return three_digits(seconds * 1e9) + " ns";
  if (seconds < 999.5e-6) return three_digits(seconds * 1e6) + " us";
  if (seconds < 999.5e-3) return three_digits(seconds * 1e3) + " ms";
  return three_digits(seconds) + " s";
}

std::string duration_text(double seconds) {
  const auto whole = static_cast<int64_t>(std::ceil(seconds));
  if (whole < 60) return fmt::format("{}s", whole);
  if (whole < 3600) return fmt::format("{}m{:02}s", whole / 60, whole % 60);
  return fmt::format("{}h{:02}m", whole / 3600, whole % 3600 / 60);
}

std::string progress_text(const Progress& progress, size_t width) {
  const auto compose = [&](const std::string& failures) {
    std::string text = progress.total > 0 ? fmt::format("trials {}/{}", progress.done, progress.total)
                                          : fmt::format("trials {}", progress.done);
    text += "  " + fastest_text(progress);
    if (!failures.empty()) text += "  " + failures;
    if (progress.seconds_left) text += fmt::format("  {} left", duration_text(*progress.seconds_left));
    return text;
  };
  std::string text = compose(failures_text(progress, true));
  if (text.size() > width) text = compose(failures_text(progress, false));
  if (text.size() > width) text = compose({});
  if (text.size() > width) text.resize(width);
  return text;
}

LiveLine::LiveLine(bool quiet, int descriptor)
    : descriptor_(descriptor), active_(!quiet && can_redraw(descriptor)) {}

LiveLine::~LiveLine() { clear(); }

void LiveLine::update(const Progress& progress, Clock::time_point now) {
  if (!active_ || (last_ && now - *last_ < std::chrono::milliseconds(100))) return;
  last_ = now;
  drawn_ = true;
  // A character in the last column would make some terminals begin a new line.
  write_all(descriptor_, "\r" + progress_text(progress, columns(descriptor_) - 1) + "\x1b[K");
}

void LiveLine::say(std::string_view text) {
  if (!active_) return;
  drawn_ = true;
  write_all(descriptor_, fmt::format("\r{}\x1b[K", text.substr(0, columns(descriptor_) - 1)));
}

void LiveLine::clear() {
  if (!drawn_) return;
  drawn_ = false;
  write_all(descriptor_, "\r\x1b[K");
}

}  // namespace tunesmith
