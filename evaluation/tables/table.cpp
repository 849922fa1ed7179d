#include "tunesmith/evaluation/table.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tunesmith/tuning/ranking.h"
#include "tunesmith/workload/library.h"

namespace tunesmith {

std::optional<double> seconds_of(const TableRow& row) {
  std::vector<double> samples;
  for (const std::vector<double>& round : row.rounds)
    samples.insert(samples.end(), round.begin(), round.end());
  if (samples.empty()) return std::nullopt;
  return quantile_interval(samples, kTimeQuantile).value;
}

std::optional<double> rounds_apart(const TableRow& row) {
  if (row.rounds.size() < 2) return std::nullopt;
  std::vector<double> times;
  for (const std::vector<double>& round : row.rounds)
    times.push_back(quantile_interval(round, kTimeQuantile).value);
  std::ranges::partial_sort(times, times.begin() + 2);
  return std::log(times[1] / times[0]);
}

TableNoise noise_of(const Table& table) {
  std::vector<double> apart;
  for (const TableRow& row : table.rows) {
    if (const std::optional<double> rounds = rounds_apart(row)) apart.push_back(*rounds);
  }
  if (apart.empty()) return {};
  return {quantile_interval(apart, 0.5).value, quantile_interval(apart, 0.9).value, apart.size()};
}

Workload workload_of(const Table& table) {
  const std::string where = "the table's workload";
  Workload workload = WorkloadDefinition::parse(table.definition, where)
                          .instantiate(parse_workload_text(table.workload).second);
  if (workload.hash != table.workload_hash) {
    throw UserError({table.workload}, "is another program than at recording", "record the table again");
  }
  return workload;
}

}  // namespace tunesmith
