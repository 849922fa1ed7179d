#include "record_text.h"

#include <ctime>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tunesmith/support/hash.h>

#include "progress/progress.h"
#include "report/task_records.h"

namespace tunesmith::cli {
namespace {

template <class Value>
nlohmann::json known_or_null(bool known, const Value& value) {
  return known ? nlohmann::json(value) : nlohmann::json(nullptr);
}

}  // namespace

std::string outcome(const Record& record) {
  if (record.ok()) return seconds_text(record.seconds) + (record.modelled() ? " modelled" : "");
  return fmt::format("{} {}", failure_cause_name(record.failure->cause), record.failure->message);
}

std::string threads_text(const TaskKey& task) {
  return fmt::format("{} {}{}", task.threads, task.threads == 1 ? "thread" : "threads",
                     task.device.empty() ? "" : " on " + task.device);
}

std::string date_text(int64_t time_ms) {
  const auto seconds = static_cast<std::time_t>(time_ms / 1000);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  char text[32];
  const size_t length = std::strftime(text, sizeof text, "%F %T UTC", &utc);
  return {text, length};
}

std::string task_of(const Record& record, const RecordStore& store) {
  const std::optional<Environment> environment = store.environment(record.environment);
  return environment ? report::task_id(record.task(), environment->machine()) : "";
}

nlohmann::json to_json(const Record& record, const RecordStore& store, ShownWorkloads& shown) {
  const std::string task = task_of(record, store);
  nlohmann::json one{{"id", record.id},
                     {"workload", record.workload},
                     {"shapes", known_or_null(!shown.shapes(record).empty(), shown.shapes(record))},
                     {"task", known_or_null(!task.empty(), task)},
                     {"target", record.target},
                     {"threads", record.threads},
                     {"device", record.device},
                     {"space", record.space},
                     {"run", record.run},
                     {"program", hex64(record.lowered_hash)},
                     {"kind", measurement_kind_name(record.kind)},
                     {"round", known_or_null(record.round > 0, record.round)},
                     {"score", known_or_null(record.score.has_value(), record.score.value_or(0.0))},
                     {"ok", record.ok()},
                     {"time_ms", record.time_ms}};
  if (record.timing) one["seconds"] = record.seconds;
  one["modelled"] = record.modelled();
  if (!record.verified_on.empty()) one["verified_on"] = record.verified_on;
  one["verifier"] = known_or_null(record.verifier.has_value(), record.verifier.value_or(0));
  if (record.failure) one["cause"] = failure_cause_name(record.failure->cause);
  return one;
}

}  // namespace tunesmith::cli
