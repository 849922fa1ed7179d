// A progress line on a terminal, redrawn in place.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tunesmith {

/// The content of the line; unset fields are omitted.
struct Progress {
  int64_t done = 0;
  int64_t total = 0;                    // 0 when it is not known
  std::optional<double> best_seconds;   // the time of one call
  bool modelled = false;                // the times come from a model, not from measurements
  std::optional<double> gflops;         // the best program's
  std::string rate_unit = "GFLOP/s";    // the unit of gflops: "GOP/s" for integers
  std::optional<double> share_of_peak;  // the best program's; 1 is the machine's measured peak
  std::vector<std::pair<std::string, int64_t>> failures;  // by cause, in display order; zeros are omitted
  std::optional<double> seconds_left;
};

/// "trials 128/512  best 1.23 ms, 210.5 GFLOP/s, 71.2 % of peak  failed 7 (time_out 4, crash 3)  2m05s left",
/// in at most `width` columns. Where that is too long it omits the causes, then the number of failures, then
/// the end.
std::string progress_text(const Progress& progress, size_t width);

/// "850 ns", "12.3 us", "1.23 ms", "4.56 s": three significant digits.
std::string seconds_text(double seconds);
/// "7s", "2m05s", "1h02m": for waiting, whole seconds rounded up.
std::string duration_text(double seconds);

/// Draws on `descriptor`, at most ten times a second. Does nothing if `descriptor` is no terminal that can
/// redraw a line, or with `quiet`. Not thread-safe. Clear the line before other text goes to the same
/// terminal.
class LiveLine {
 public:
  using Clock = std::chrono::steady_clock;

  /// Does not close the descriptor; 2 is stderr.
  explicit LiveLine(bool quiet = false, int descriptor = 2);
  /// Clears the line.
  ~LiveLine();
  LiveLine(const LiveLine&) = delete;
  LiveLine& operator=(const LiveLine&) = delete;

  bool active() const { return active_; }
  /// Draws, unless the last drawing is less than a tenth of a second before `now`.
  void update(const Progress& progress, Clock::time_point now = Clock::now());
  /// Draws `text` immediately, until the next update.
  void say(std::string_view text);
  /// Leaves the terminal's line empty and the cursor at its beginning.
  void clear();

 private:
  int descriptor_;
  bool active_;
  bool drawn_ = false;
  std::optional<Clock::time_point> last_;
};

}  // namespace tunesmith
