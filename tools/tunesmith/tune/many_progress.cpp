#include "many_progress.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "progress/progress.h"

namespace tunesmith::cli {

using Phase = TuneManyProgress::Phase;

ManyProgress::ManyProgress(bool quiet, const TaskList& list, std::vector<double> peaks,
                           const TuneManyOptions& options)
    : quiet_(quiet),
      list_(list),
      peaks_(std::move(peaks)),
      options_(options),
      table_(quiet),
      latest_(list.tasks.size()) {
  std::iota(latest_.begin(), latest_.end(), size_t{0});
}

void ManyProgress::update(const TuneManyProgress& progress) {
  if (quiet_) return;
  if (progress.phase == Phase::Searching) {
    const auto place = std::ranges::find(latest_, progress.task);
    std::rotate(latest_.begin(), place, place + 1);
    if (trials_begun_ < 0) {
      trials_begun_ = progress.trials;
      seconds_begun_ = progress.elapsed_seconds;
    }
  }
  if (table_.active()) {
    if (table_.due()) draw(progress);
  } else {
    log(progress);
  }
}

std::string ManyProgress::head(const TuneManyProgress& progress) const {
  const size_t tasks = list_.tasks.size();
  if (progress.phase == Phase::Opening)
    return fmt::format("opening task {} of {}: {}", progress.task + 1, tasks, list_.names[progress.task]);
  if (progress.phase == Phase::Ranking) {
    return fmt::format("{} trials done; ranking task {} of {}: {}", progress.trials, progress.task + 1, tasks,
                       list_.names[progress.task]);
  }
  std::string text = options_.trials > 0 ? fmt::format("trials {}/{}", progress.trials, options_.trials)
                                         : fmt::format("trials {}", progress.trials);
  if (progress.failed > 0) text += fmt::format(", {} failed", progress.failed);
  double left = std::numeric_limits<double>::infinity();
  const int64_t made = progress.trials - trials_begun_;
  if (options_.trials > 0 && made > 0) {
    left = (progress.elapsed_seconds - seconds_begun_) / static_cast<double>(made) *
           static_cast<double>(options_.trials - progress.trials);
  }
  if (options_.seconds > 0.0)
    left = std::min(left, std::max(0.0, options_.seconds - progress.elapsed_seconds));
  if (std::isfinite(left)) text += fmt::format("  {} left", duration_text(left));
  return text;
}

TaskRow ManyProgress::row(const TuneManyProgress& progress, size_t task) const {
  const TaskHistory& history = progress.histories[task];
  TaskRow row;
  row.name = list_.names[task];
  row.weight = history.weight;
  row.trials = history.trials;
  row.trend = history.done ? "done" : trend_text(history, options_.task.batch);
  if (!history.improvements.empty()) {
    row.seconds = history.best();
    if (peaks_[task] > 0.0) row.share_of_peak = history.operations / history.best() / peaks_[task];
  }
  return row;
}

/// All tasks in their order if there is room, else those that were searched last.
std::vector<size_t> ManyProgress::tasks_to_show(size_t most) const {
  std::vector<size_t> shown = latest_;
  shown.resize(std::min(most, shown.size()));
  if (shown.size() == latest_.size()) std::ranges::sort(shown);
  return shown;
}

void ManyProgress::draw(const TuneManyProgress& progress) {
  constexpr size_t kOtherLines = 4;  // the head, the heading, the rest, and the cursor's line
  const size_t room = table_.rows() > kOtherLines ? table_.rows() - kOtherLines : 1;
  std::vector<TaskRow> rows;
  for (const size_t task : tasks_to_show(room)) {
    rows.push_back(row(progress, task));
    if (task == progress.task && progress.phase != Phase::Opening) rows.back().name = "> " + rows.back().name;
  }
  std::vector<std::string> lines = table_lines(rows, table_.columns() - 1, "fastest");
  lines.insert(lines.begin(), head(progress));
  if (rows.size() < list_.tasks.size())
    lines.push_back(fmt::format("and {} more tasks searched before", list_.tasks.size() - rows.size()));
  table_.draw(lines);
}

/// Prints a line every few seconds, and where a phase begins.
void ManyProgress::log(const TuneManyProgress& progress) {
  constexpr std::chrono::seconds kPause(5);
  const auto now = std::chrono::steady_clock::now();
  if (progress.phase == logged_phase_ && now - logged_ < kPause) return;
  logged_ = now;
  logged_phase_ = progress.phase;
  std::string line = head(progress);
  if (progress.phase == Phase::Searching) {
    const TaskRow last = row(progress, progress.task);
    line += "  " + last.name;
    if (last.seconds) {
      line +=
          fmt::format(": fastest {}{}, {} trials, {}", seconds_text(*last.seconds),
                      last.share_of_peak ? fmt::format(", {} of peak", share_text(*last.share_of_peak)) : "",
                      last.trials, last.trend);
    }
  }
  fmt::print(stderr, "{}\n", line);
}

}  // namespace tunesmith::cli
