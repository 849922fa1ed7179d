#include "tunesmith/tuning/intervals.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "tunesmith/support/error.h"

namespace tunesmith {
namespace {

size_t widest_parameter(const Program& program) {
  const auto width = [](const ExtentParameter& parameter) {
    return static_cast<double>(parameter.var->highest) /
           static_cast<double>(std::max<int64_t>(parameter.var->lowest, 1));
  };
  return static_cast<size_t>(std::ranges::max_element(program.parameters, {}, width) -
                             program.parameters.begin());
}

/// Of a parameter's value: the logarithm of each program's time, relative to the fastest's.
struct MeasuredValue {
  int64_t value = 0;
  std::vector<double> behind;
};

/// The values at which all programs were timed, ascending. Of equal values of the parameter the first counts.
std::vector<MeasuredValue> measured_values(size_t parameter, std::span<const std::vector<TimeAt>> times) {
  std::map<int64_t, std::vector<double>> logarithms;
  for (const TimeAt& at : times.front()) {
    std::vector<double>& of_value = logarithms[at.values.at(parameter)];
    if (!of_value.empty()) continue;
    for (const std::vector<TimeAt>& program : times) {
      const auto same = std::ranges::find(program, at.values, &TimeAt::values);
      if (same != program.end()) of_value.push_back(std::log(same->seconds));
    }
  }
  std::vector<MeasuredValue> measured;
  for (auto& [value, each] : logarithms) {
    if (each.size() != times.size()) continue;
    const double fastest = std::ranges::min(each);
    for (double& one : each) one -= fastest;
    measured.push_back({value, std::move(each)});
  }
  return measured;
}

/// The last value for `below`, which is faster at the first of two measured values, before `above`.
int64_t last_value(const MeasuredValue& first, const MeasuredValue& second, size_t below, size_t above) {
  const double gains = first.behind[above] - first.behind[below];
  const double loses = second.behind[below] - second.behind[above];
  const double share = gains > 0.0 && loses > 0.0 ? gains / (gains + loses) : 0.5;
  const double low = std::log(static_cast<double>(std::max<int64_t>(first.value, 1)));
  const double high = std::log(static_cast<double>(second.value));
  const auto crossing = static_cast<int64_t>(std::floor(std::exp(low + share * (high - low))));
  return std::clamp(crossing, first.value, second.value - 1);
}

/// Of measured values, both included.
struct Run {
  size_t first = 0;
  size_t last = 0;
  size_t program = 0;
};

/// Dynamic programming: for each number of values, the division into each number of runs with the least total
/// loss.
class Division {
 public:
  explicit Division(const std::vector<MeasuredValue>& values) : values_(values) {
    for (size_t runs = 1; runs <= kMaxIntervals; ++runs) add_level(runs);
  }

  std::vector<Run> best() const {
    size_t chosen = 1;
    const auto cost = [&](size_t runs) {
      return levels_[runs - 1].back().cost + kIntervalGain * static_cast<double>(runs - 1);
    };
    for (size_t runs = 2; runs <= std::min(kMaxIntervals, values_.size()); ++runs)
      if (cost(runs) < cost(chosen)) chosen = runs;
    std::vector<Run> made;
    for (size_t runs = chosen, end = values_.size(); runs > 0; --runs) {
      made.push_back(levels_[runs - 1][end - 1].last);
      end = made.back().first;
    }
    std::ranges::reverse(made);
    return made;
  }

 private:
  struct Part {
    double cost = std::numeric_limits<double>::infinity();
    Run last;
  };

  void add_level(size_t runs) {
    std::vector<Part>& level = levels_.emplace_back(values_.size());
    for (size_t last = runs - 1; last < values_.size(); ++last) {
      for (size_t first = runs - 1; first <= last; ++first) {
        if ((runs == 1) != (first == 0)) continue;
        const double before = runs == 1 ? 0.0 : levels_[runs - 2][first - 1].cost;
        for (size_t program = 0; program < values_.front().behind.size(); ++program) {
          double cost = before;
          for (size_t i = first; i <= last; ++i) cost += values_[i].behind[program];
          if (cost < level[last].cost) level[last] = {cost, {first, last, program}};
        }
      }
    }
  }

  const std::vector<MeasuredValue>& values_;
  std::vector<std::vector<Part>> levels_;  // [runs - 1][last value]
};

}  // namespace

IntervalTable choose_intervals(const Program& program, std::span<const std::vector<TimeAt>> times) {
  check_invariant(!times.empty(), "something to choose from");
  if (program.parameters.empty()) return {0, {{0, 0, 0}}};
  IntervalTable table{widest_parameter(program), {}};
  const VarNode& var = *program.parameters[table.parameter].var.get();
  const std::vector<MeasuredValue> values = measured_values(table.parameter, times);
  const std::vector<Run> runs = values.empty() ? std::vector<Run>{} : Division(values).best();
  if (runs.size() < 2) return {table.parameter, {{var.lowest, var.highest, 0}}};
  int64_t lowest = var.lowest;
  for (size_t i = 0; i + 1 < runs.size(); ++i) {
    const Run &one = runs[i], &next = runs[i + 1];
    const int64_t last = last_value(values[one.last], values[next.first], one.program, next.program);
    table.intervals.push_back({lowest, last, one.program});
    lowest = last + 1;
  }
  table.intervals.push_back({lowest, var.highest, runs.back().program});
  return table;
}

RecordsOfIntervals records_of_intervals(const Program& program, std::span<const Record> best) {
  check_invariant(!best.empty(), "something to choose from");
  const Record& first = best.front();
  std::vector<const Record*> ranked;
  std::vector<std::vector<TimeAt>> times;
  for (const Record& record : best) {
    const bool together = record.kind == MeasurementKind::Ranking && record.run == first.run &&
                          record.ranking == first.ranking && !record.timing->at.empty();
    if (&record != &first && !together) continue;
    ranked.push_back(&record);
    times.push_back(record.timing->at);
  }
  const IntervalTable table = choose_intervals(program, times);
  RecordsOfIntervals chosen{table.parameter, {}};
  for (const ValueInterval& interval : table.intervals)
    chosen.each.push_back({ranked[interval.program], interval.lowest, interval.highest});
  return chosen;
}

std::string interval_text(const Program& program, size_t parameter, int64_t lowest, int64_t highest) {
  return fmt::format("{}={}..{}", program.parameters.at(parameter).var->name, lowest, highest);
}

}  // namespace tunesmith
