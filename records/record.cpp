#include "tunesmith/records/record.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include "tunesmith/support/error.h"
#include "tunesmith/workload/library.h"

namespace tunesmith {

namespace {
std::string timing_fault(const Timing& timing, double seconds) {
  if (timing.samples.empty()) return "it has a time but no samples";
  if (!is_time(timing.min) || !is_time(timing.median) || !std::ranges::all_of(timing.samples, is_time)) {
    return "a time is not finite and positive";
  }
  if (!std::isfinite(timing.prepare) || timing.prepare < 0.0) return "its preparation time is invalid";
  const auto [least, most] = std::ranges::minmax(timing.samples);
  if (!(seconds >= least && seconds <= most)) return "its time is outside its samples";
  return "";
}
}  // namespace

std::string_view measurement_kind_name(MeasurementKind kind) {
  switch (kind) {
    case MeasurementKind::Search:
      return "search";
    case MeasurementKind::Ranking:
      return "ranking";
    case MeasurementKind::Bench:
      break;
  }
  return "bench";
}

std::optional<MeasurementKind> parse_measurement_kind(std::string_view name) {
  for (const auto kind : {MeasurementKind::Search, MeasurementKind::Ranking, MeasurementKind::Bench}) {
    if (measurement_kind_name(kind) == name) return kind;
  }
  return std::nullopt;
}

Workload instantiate(const RecordedWorkload& recorded) {
  if (recorded.definition.empty()) {
    throw UserError(fmt::format("the record store does not have the definition of '{}'", recorded.text));
  }
  const auto [name, params] = parse_workload_text(recorded.text);
  return WorkloadDefinition::parse(recorded.definition, name).instantiate(params);
}

tl::expected<Workload, std::string> sound_workload(const RecordedWorkload& recorded) {
  try {
    Workload workload = instantiate(recorded);
    if (workload.hash == recorded.hash) return workload;
    return tl::make_unexpected(std::string("its definition is another computation"));
  } catch (const UserError& error) {
    return tl::make_unexpected(fmt::format("its definition is invalid: {}", error.what()));
  }
}

std::string operations_roof(DType type, std::string_view unit) {
  return fmt::format("operations {}{}{}", type.str(), unit.empty() ? "" : " of ", unit);
}

std::string roof_fault(const RecordedRoof& roof) {
  if (roof.id.empty()) return "its id is empty";
  if (roof.target.empty()) return "its target is empty";
  if (roof.threads < 1) return "its number of threads is not positive";
  if (roof.quantity.empty()) return "its quantity is empty";
  if (!std::isfinite(roof.per_second) || roof.per_second <= 0.0) return "it is not finite and positive";
  return "";
}

std::string record_fault(const Record& record) {
  if (record.id.empty()) return "its id is empty";
  if (record.workload.empty()) return "its workload is empty";
  if (record.target.empty()) return "its target is empty";
  if (record.trace_version < 0) return "its trace version is negative";
  if (record.threads < 1) return "its number of threads is not positive";
  if (record.run.empty()) return "its run is empty";
  if ((record.kind == MeasurementKind::Ranking) != (record.ranking > 0)) {
    return "its kind and its ranking number disagree";
  }
  if (record.round < 0 || (record.round > 0 && record.kind != MeasurementKind::Search))
    return "it has a round number but is no search measurement";
  if (record.score && record.round == 0) return "it has a score but no round number";
  if (record.score && !std::isfinite(*record.score)) return "its score is not finite";
  if (record.verified_error && !std::isfinite(*record.verified_error))
    return "its verified error is not finite";
  if (record.failure) {
    if (record.timing) return "it failed but has a time";
    return record.seconds == 0.0 ? "" : "it failed but is compared by a time";
  }
  if (!record.timing) return "it succeeded but has no time";
  if (!record.verified_error && record.kind != MeasurementKind::Ranking)
    return "it succeeded but was not verified";
  return timing_fault(*record.timing, record.seconds);
}

int64_t now_ms() {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(since_epoch).count();
}

}  // namespace tunesmith
