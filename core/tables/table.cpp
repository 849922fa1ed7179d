#include "tunesmith/tables/table.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tunesmith/tune/ranking.h"
#include "tunesmith/workload/library.h"

namespace tunesmith {

std::optional<double> seconds_of(const TableRow& row) {
  std::vector<double> samples;
  for (const std::vector<double>& round : row.rounds)
    samples.insert(samples.end(), round.begin(), round.end());
  if (samples.empty()) return std::nullopt;
  return quantile_interval(samples, kTimeQuantile).value;
}

TableNoise noise_of(const Table& table) {
  std::vector<double> apart;
  for (const TableRow& row : table.rows) {
    if (row.rounds.size() < 2) continue;
    const double a = quantile_interval(row.rounds[0], kTimeQuantile).value;
    const double b = quantile_interval(row.rounds[1], kTimeQuantile).value;
    apart.push_back(std::abs(std::log(a / b)));
  }
  if (apart.empty()) return {};
  return {quantile_interval(apart, 0.5).value, quantile_interval(apart, 0.9).value, apart.size()};
}

Workload workload_of(const Table& table) {
  const std::string where = "the table's workload";
  Workload workload = WorkloadDefinition::parse(table.definition, where)
                          .instantiate(parse_workload_text(table.workload).second);
  if (workload.hash != table.workload_hash) {
    throw UserError({table.workload}, "is another program than when the table was recorded",
                    "record the table anew");
  }
  return workload;
}

}  // namespace tunesmith
