#include "tunesmith/records/record_json.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "current_target.h"
#include "tunesmith/records/workload_fields.h"
#include "tunesmith/schema/field.h"
#include "tunesmith/schema/json_text.h"
#include "tunesmith/schema/limits.h"
#include "tunesmith/schema/line.h"
#include "tunesmith/schema/outcome_fields.h"
#include "tunesmith/support/error.h"
#include "tunesmith/support/hash.h"

namespace tunesmith {

namespace {
using nlohmann::json;

constexpr int64_t kMaxInt = std::numeric_limits<int>::max();
constexpr double kAnyNumber = std::numeric_limits<double>::max();

/// null if unknown
template <class Value>
json or_null(bool known, const Value& value) {
  return known ? json(value) : json(nullptr);
}

std::string text_or_none(const Field& field, size_t max_bytes) {
  const auto known = field.if_known();
  return known ? known->text(max_bytes) : "";
}

int64_t time_in(const Field& field) { return field.integer(std::numeric_limits<int64_t>::min(), kAnyCount); }

json to_json(const RecordedSpace& s) {
  return {
      {"name", s.name}, {"rules_hash", hex64(s.rules_hash)}, {"rules", or_null(!s.rules.empty(), s.rules)}};
}

RecordedSpace space_from(const Field& in) {
  return {in["name"].text(kMaxName), in["rules_hash"].hash(), text_or_none(in["rules"], kMaxText)};
}

json to_json(const RecordedRun& r) {
  return {{"id", r.id},
          {"command", r.command},
          {"seed", r.seed},
          {"space", r.space},
          {"rules_hash", hex64(r.rules_hash)},
          {"environment", hex64(r.environment)},
          {"searcher", r.searcher},
          {"cost_model", r.cost_model},
          {"threads", r.threads},
          {"options", r.options},
          {"code_generator", r.code_generator},
          {"began_ms", r.began_ms},
          {"ended_ms", or_null(r.ended_ms != 0, r.ended_ms)},
          {"ended_because", or_null(r.ended_ms != 0, r.ended_because)}};
}

RecordedRun run_from(const Field& in) {
  RecordedRun r;
  r.id = in["id"].text(kMaxName);
  r.command = in["command"].text(kMaxText);
  r.seed = in["seed"].bits();
  r.space = in["space"].text(kMaxName);
  r.rules_hash = in["rules_hash"].hash();
  r.environment = in["environment"].hash();
  r.searcher = in["searcher"].text(kMaxText);
  r.cost_model = in["cost_model"].text(kMaxText);
  r.threads = static_cast<int>(in["threads"].integer(0, kMaxThreads));
  r.options = in["options"].text(kMaxText);
  r.code_generator = in["code_generator"].text(kMaxText);
  r.began_ms = time_in(in["began_ms"]);
  const auto ended = in["ended_ms"].if_known();
  r.ended_ms = ended ? time_in(*ended) : 0;
  r.ended_because = text_or_none(in["ended_because"], kMaxText);
  if (r.id.empty()) in["id"].wrong("is empty");
  return r;
}

json to_json(const RecordedRoof& r) {
  json out = {{"id", r.id},           {"environment", hex64(r.environment)},
              {"target", r.target},   {"threads", r.threads},
              {"device", r.device},   {"quantity", r.quantity},
              {"time_ms", r.time_ms}, {"per_second", r.per_second}};
  if (r.disturbed) out["disturbed"] = *r.disturbed;
  return out;
}

RecordedRoof roof_from(const Field& in) {
  RecordedRoof r;
  r.id = in["id"].text(kMaxName);
  r.environment = in["environment"].hash();
  r.target = current_target(in["target"].text(kMaxIdentity));
  r.threads = static_cast<int>(in["threads"].integer(0, kMaxThreads));
  r.device = in["device"].text(kMaxName);
  r.quantity = in["quantity"].text(kMaxName);
  r.per_second = in["per_second"].number(-kAnyNumber, kAnyNumber);
  r.time_ms = time_in(in["time_ms"]);
  if (const auto disturbed = in.find("disturbed")) r.disturbed = disturbed->boolean();
  if (const std::string fault = roof_fault(r); !fault.empty()) in.wrong(fault);
  return r;
}

json times_at_json(const std::vector<TimeAt>& times) {
  json list = json::array();
  for (const auto& [values, seconds] : times) list.push_back({{"values", values}, {"seconds", seconds}});
  return list;
}

std::vector<TimeAt> read_times_at(const Field& list) {
  constexpr size_t kMaxTimes = 1024, kMaxParameters = 64;
  return list.list(1, kMaxTimes, [](const Field& at) {
    return TimeAt{
        at["values"].list(1, kMaxParameters, [](const Field& value) { return value.integer(0, kAnyCount); }),
        at["seconds"].number(kMinSeconds, kMaxSeconds)};
  });
}

json seconds_json(const Record& r) {
  json out = {{"compared", r.seconds},
              {"min", r.timing->min},
              {"median", r.timing->median},
              {"samples", r.timing->samples},
              {"prepare", r.timing->prepare}};
  if (!r.timing->at.empty()) out["at"] = times_at_json(r.timing->at);
  return out;
}

json to_json(const Record& r) {
  json out = {{"id", r.id},
              {"workload", r.workload},
              {"workload_hash", hex64(r.workload_hash)},
              {"target", r.target},
              {"threads", r.threads},
              {"device", r.device},
              {"run", r.run},
              {"environment", hex64(r.environment)},
              {"space", r.space},
              {"rules_hash", hex64(r.rules_hash)},
              {"seed", r.seed},
              {"trace", r.trace},
              {"trace_version", r.trace_version},
              {"lowered_hash", hex64(r.lowered_hash)},
              {"kind", measurement_kind_name(r.kind)},
              {"ranking", r.ranking},
              {"candidate", r.candidate},
              {"status", r.ok() ? "ok" : "failed"},
              {"cause", nullptr},
              {"message", nullptr},
              {"seconds", r.timing ? seconds_json(r) : json(nullptr)},
              {"disturbed", or_null(r.disturbed.has_value(), r.disturbed.value_or(false))},
              {"verified_error", or_null(r.verified_error.has_value(), r.verified_error.value_or(0.0))},
              {"time_ms", r.time_ms}};
  if (r.failure) add_failure(out, *r.failure);
  if (r.round > 0) out["round"] = r.round;
  if (r.score) out["score"] = *r.score;
  if (!r.verified_on.empty()) out["verified_on"] = r.verified_on;
  if (r.verifier) out["verifier"] = *r.verifier;
  return out;
}

void read_outcome(const Field& in, Record& r) {
  if (in["cause"].if_known()) r.failure = read_failure(in, kMaxText);
  if (const auto seconds = in["seconds"].if_known()) {
    const auto time = [&](const char* name) { return (*seconds)[name].number(0.0, kAnyNumber); };
    r.timing = Timing{time("min"), time("median"), read_samples((*seconds)["samples"], 0, kMaxRepeats),
                      time("prepare")};
    if (const auto at = seconds->find("at")) r.timing->at = read_times_at(*at);
    r.seconds = time("compared");
  }
  if (const auto verified = in["verified_error"].if_known())
    r.verified_error = verified->number(0.0, kAnyNumber);
  if (in["status"].text(kMaxName) != (r.ok() ? "ok" : "failed"))
    in["status"].wrong("and its cause contradict each other");
}

Record record_from(const Field& in) {
  Record r;
  r.id = in["id"].text(kMaxName);
  r.workload = in["workload"].text(kMaxIdentity);
  r.workload_hash = in["workload_hash"].hash();
  r.target = current_target(in["target"].text(kMaxIdentity));
  r.threads = static_cast<int>(in["threads"].integer(1, kMaxThreads));
  r.device = in["device"].text(kMaxName);
  r.run = in["run"].text(kMaxName);
  r.environment = in["environment"].hash();
  r.space = in["space"].text(kMaxName);
  r.rules_hash = in["rules_hash"].hash();
  r.seed = in["seed"].bits();
  r.trace = in["trace"].text(kMaxText);
  r.trace_version = static_cast<int>(in["trace_version"].integer(0, kMaxInt));
  r.lowered_hash = in["lowered_hash"].hash();
  const std::string kind_name = in["kind"].text(kMaxName);
  const auto kind = parse_measurement_kind(kind_name);
  if (!kind) in["kind"].wrong(fmt::format("is '{}', not a kind of measurement", kind_name.substr(0, 40)));
  r.kind = kind.value_or(MeasurementKind::Search);
  r.ranking = static_cast<int>(in["ranking"].integer(0, kMaxInt));
  r.candidate = in["candidate"].bits();
  if (const auto round = in.find("round")) r.round = static_cast<int>(round->integer(0, kMaxInt));
  if (const auto score = in.find("score")) r.score = score->number(-kAnyNumber, kAnyNumber);
  if (const auto instance = in.find("verified_on")) r.verified_on = instance->text(kMaxIdentity);
  if (const auto version = in.find("verifier")) r.verifier = static_cast<int>(version->integer(0, kMaxInt));
  read_outcome(in, r);
  if (const auto disturbed = in["disturbed"].if_known()) r.disturbed = disturbed->boolean();
  r.time_ms = time_in(in["time_ms"]);
  return r;
}

LineContent content_of(const Line& line, std::string& error) {
  const Field in(line.content, error);
  if (line.kind == "environment") return Environment::parse(canonical_text(line.content));
  if (line.kind == "record") return record_from(in);
  if (line.kind == "workload") return read_workload(in);
  if (line.kind == "space") return space_from(in);
  if (line.kind == "roof") return roof_from(in);
  if (line.kind == "run") return run_from(in);
  throw UserError(
      fmt::format("a {}, which is not a measurement; run it with `tunesmith measure`", line.kind));
}

}  // namespace

std::string canonical_json(const Record& record) { return canonical_text(to_json(record)); }
std::string canonical_json(const RecordedWorkload& workload) {
  return canonical_text(workload_fields(workload));
}
std::string canonical_json(const RecordedSpace& space) { return canonical_text(to_json(space)); }
std::string canonical_json(const RecordedRun& run) { return canonical_text(to_json(run)); }
std::string canonical_json(const RecordedRoof& roof) { return canonical_text(to_json(roof)); }
std::string canonical_json(const Environment& environment) { return environment.text(); }

std::string line_of(const Record& record) { return line_text("record", canonical_json(record)); }
std::string line_of(const RecordedWorkload& workload) {
  return line_text("workload", canonical_json(workload));
}
std::string line_of(const RecordedSpace& space) { return line_text("space", canonical_json(space)); }
std::string line_of(const RecordedRun& run) { return line_text("run", canonical_json(run)); }
std::string line_of(const RecordedRoof& roof) { return line_text("roof", canonical_json(roof)); }
std::string line_of(const Environment& environment) {
  return line_text("environment", canonical_json(environment));
}

LineContent parse_line(std::string_view text) {
  const Line line = parse_line_text(text);
  std::string error;
  LineContent content = content_of(line, error);
  if (!error.empty()) throw UserError(fmt::format("not a {}: {}", line.kind, error));
  return content;
}

uint64_t parse_hash(std::string_view text) {
  if (const std::optional<uint64_t> hash = hash_of_digits(text)) return *hash;
  throw UserError(fmt::format("'{}' is not a hash of 16 hexadecimal digits", text));
}

std::string samples_json(const std::vector<double>& samples) { return canonical_text(samples); }

std::vector<double> parse_samples(std::string_view text) {
  const tl::expected<json, std::string> list = parse_value(text);
  const auto is_number = [](const json& one) { return one.is_number(); };
  if (!list || !list->is_array() || !std::ranges::all_of(*list, is_number))
    throw UserError("its samples are not a list of numbers");
  return list->get<std::vector<double>>();
}

std::string times_at_text(const std::vector<TimeAt>& times) { return canonical_text(times_at_json(times)); }

std::vector<TimeAt> parse_times_at(std::string_view text) {
  const tl::expected<json, std::string> list = parse_value(text);
  if (!list) throw UserError(fmt::format("its times at values are not JSON: {}", list.error()));
  const json whole = {{"at", *list}};
  std::string error;
  std::vector<TimeAt> times = read_times_at(Field(whole, error)["at"]);
  if (!error.empty()) throw UserError(fmt::format("its times at values: {}", error));
  return times;
}

}  // namespace tunesmith
