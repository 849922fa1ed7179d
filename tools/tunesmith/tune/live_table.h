// Lines on a terminal that are redrawn in place.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace tunesmith::cli {

/// Draws on standard error, at most ten times a second. Does nothing if that is no terminal that can redraw,
/// or with `quiet`. Clear the table before other text goes to the same terminal.
class LiveTable {
 public:
  using Clock = std::chrono::steady_clock;

  explicit LiveTable(bool quiet);
  ~LiveTable();
  LiveTable(const LiveTable&) = delete;
  LiveTable& operator=(const LiveTable&) = delete;

  bool active() const { return active_; }
  /// Is the last drawing a tenth of a second old?
  bool due() const { return active_ && Clock::now() - last_ >= std::chrono::milliseconds(100); }
  /// The terminal's current number of rows.
  size_t rows() const;
  size_t columns() const;
  /// Replaces the drawn lines. Cuts them to the terminal's width, and omits those beyond its height.
  void draw(const std::vector<std::string>& lines);
  void clear();

 private:
  bool active_;
  size_t drawn_ = 0;  // number of lines
  Clock::time_point last_{};
};

}  // namespace tunesmith::cli
