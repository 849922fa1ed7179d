#include "live_table.h"

#include <cstdlib>
#include <string_view>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace tunesmith::cli {
namespace {

bool can_redraw() {
  const char* terminal = std::getenv("TERM");
  return isatty(STDERR_FILENO) == 1 && (terminal == nullptr || std::string_view(terminal) != "dumb");
}

winsize size_of_terminal() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0)
    return {24, 80, 0, 0};
  return size;
}

}  // namespace

LiveTable::LiveTable(bool quiet) : active_(!quiet && can_redraw()) {}

LiveTable::~LiveTable() { clear(); }

size_t LiveTable::rows() const { return size_of_terminal().ws_row; }
size_t LiveTable::columns() const { return size_of_terminal().ws_col; }

void LiveTable::draw(const std::vector<std::string>& lines) {
  if (!active_) return;
  // A character in the last column makes some terminals begin a new line, and so does the last row.
  const size_t width = columns() - 1;
  const size_t height = rows() - 1;
  std::string text = drawn_ > 0 ? fmt::format("\r\x1b[{}A", drawn_) : "\r";
  drawn_ = 0;
  for (const std::string& line : lines) {
    if (drawn_ == height) break;
    text += line.substr(0, width) + "\x1b[K\n";
    ++drawn_;
  }
  text += "\x1b[J";
  fmt::print(stderr, "{}", text);
  last_ = Clock::now();
}

void LiveTable::clear() {
  if (drawn_ == 0) return;
  fmt::print(stderr, "\r\x1b[{}A\x1b[J", drawn_);
  drawn_ = 0;
}

}  // namespace tunesmith::cli
