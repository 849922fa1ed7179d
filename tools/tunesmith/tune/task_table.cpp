#include "task_table.h"

#include <algorithm>

#include <fmt/format.h>

#include "progress/progress.h"

namespace tunesmith::cli {
namespace {

struct Column {
  std::string heading;
  std::vector<std::string> cells;
};

size_t width_of(const Column& column) {
  size_t width = column.heading.size();
  for (const std::string& cell : column.cells) width = std::max(width, cell.size());
  return width;
}

/// "conv2d:h=224,w=22.." if the text is too long.
std::string shortened(const std::string& text, size_t width) {
  constexpr size_t kDots = 2;
  return text.size() <= width ? text : text.substr(0, width - kDots) + "..";
}

std::string times_text(double times) {
  return times < 9.95 ? fmt::format("{:.1f}x", times) : fmt::format("{:.0f}x", times);
}

}  // namespace

std::string trend_text(const TaskHistory& history, int64_t round) {
  constexpr int64_t kRounds = 3;
  if (history.improvements.empty()) return history.trials > 0 ? "none" : "";
  const int64_t begin = history.trials - kRounds * round;
  if (begin < round) return "new";
  const double before = history.best_after(begin);
  const double fall = 1.0 - history.best() / before;  // 1 if `before` is infinite
  return fall < 0.0005 ? "flat" : fmt::format("-{:.{}f} %", 100.0 * fall, fall < 0.0995 ? 1 : 0);
}

std::string share_text(double share) {
  if (share < 0.01) return "< 1 %";
  return fmt::format("{:.0f} %{}", 100.0 * share, share > 1.0 ? " *" : "");
}

std::vector<std::string> table_lines(const std::vector<TaskRow>& rows, size_t width,
                                     const std::string& times) {
  constexpr size_t kMinName = 12;
  Column names{"task", {}};
  Column weights{"weight", {}};
  Column seconds{times, {}};
  Column shares{"of peak", {}};
  Column gains{"gain", {}};
  Column trials{"trials", {}};
  Column trends{"trend", {}};
  bool weighted = false;
  bool gained = false;
  for (const TaskRow& row : rows) {
    weighted = weighted || row.weight != 1.0;
    gained = gained || row.gain;
    names.cells.push_back(row.name);
    weights.cells.push_back(fmt::format("{:g}", row.weight));
    seconds.cells.push_back(row.seconds ? seconds_text(*row.seconds) : "-");
    shares.cells.push_back(row.share_of_peak ? share_text(*row.share_of_peak) : "-");
    gains.cells.push_back(row.gain ? times_text(*row.gain) : "-");
    trials.cells.push_back(fmt::format("{}", row.trials));
    trends.cells.push_back(row.trend);
  }
  std::vector<Column> columns;
  if (weighted) columns.push_back(std::move(weights));
  columns.push_back(std::move(seconds));
  columns.push_back(std::move(shares));
  if (gained) columns.push_back(std::move(gains));
  columns.push_back(std::move(trials));
  columns.push_back(std::move(trends));
  size_t others = 0;
  for (const Column& column : columns) others += 2 + width_of(column);
  const size_t room = std::max(kMinName, width > others ? width - others : 0);
  const size_t name_width = std::min(room, width_of(names));

  const auto line = [&](const std::string& name, const auto& cell_of) {
    std::string text = fmt::format("{:<{}}", shortened(name, name_width), name_width);
    for (const Column& column : columns) text += fmt::format("  {:>{}}", cell_of(column), width_of(column));
    return text;
  };
  std::vector<std::string> lines{line(names.heading, [](const Column& column) { return column.heading; })};
  for (size_t i = 0; i < rows.size(); ++i)
    lines.push_back(line(names.cells[i], [&](const Column& column) { return column.cells[i]; }));
  return lines;
}

}  // namespace tunesmith::cli
