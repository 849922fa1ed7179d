// Lines on a terminal that are redrawn in place.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace tunesmith::cli {

/// Draws on standard error, at most ten times a second; does nothing when that is not a terminal that can
/// redraw, or when `quiet`. Clear it before other text is written to the same terminal.
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
  /// Of the terminal, as it is now.
  size_t rows() const;
  size_t columns() const;
  /// Replaces what is drawn. Lines are cut to the terminal's width, and those beyond its height left out.
  void draw(const std::vector<std::string>& lines);
  void clear();

 private:
  bool active_;
  size_t drawn_ = 0;  // lines
  Clock::time_point last_{};
};

}  // namespace tunesmith::cli
