#include "records/record_json.h"

#include <charconv>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "records/record_json_v1.h"
#include "tunesmith/support/error.h"
#include "tunesmith/support/hash.h"

namespace tunesmith {

namespace {
using nlohmann::json;

constexpr int kLineVersion = 5;
constexpr int kMaxDepth = 16;  // of the objects and arrays in a line

std::string canonical(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// null for what is unknown.
template <class Value>
json or_null(bool known, const Value& value) {
  return known ? json(value) : json(nullptr);
}

template <class Value>
Value value_or(const json& in, Value unknown) {
  return in.is_null() ? std::move(unknown) : in.get<Value>();
}

uint64_t hash_in(const json& value) { return parse_hash(value.get_ref<const std::string&>()); }

json to_json(const RecordedWorkload& w) {
  return {{"hash", hex64(w.hash)},
          {"text", w.text},
          {"definition", or_null(!w.definition.empty(), w.definition)}};
}

RecordedWorkload workload_from(const json& in) {
  return {hash_in(in.at("hash")), in.at("text").get<std::string>(),
          value_or(in.at("definition"), std::string())};
}

json to_json(const RecordedSpace& s) {
  return {
      {"name", s.name}, {"rules_hash", hex64(s.rules_hash)}, {"rules", or_null(!s.rules.empty(), s.rules)}};
}

RecordedSpace space_from(const json& in) {
  return {in.at("name").get<std::string>(), hash_in(in.at("rules_hash")),
          value_or(in.at("rules"), std::string())};
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

RecordedRun run_from(const json& in) {
  RecordedRun r;
  in.at("id").get_to(r.id);
  in.at("command").get_to(r.command);
  in.at("seed").get_to(r.seed);
  in.at("space").get_to(r.space);
  r.rules_hash = hash_in(in.at("rules_hash"));
  r.environment = hash_in(in.at("environment"));
  in.at("searcher").get_to(r.searcher);
  in.at("cost_model").get_to(r.cost_model);
  in.at("threads").get_to(r.threads);
  in.at("options").get_to(r.options);
  in.at("code_generator").get_to(r.code_generator);
  in.at("began_ms").get_to(r.began_ms);
  r.ended_ms = value_or(in.at("ended_ms"), int64_t{0});
  r.ended_because = value_or(in.at("ended_because"), std::string());
  if (r.id.empty()) throw UserError("a run's id is empty");
  return r;
}

json to_json(const RecordedRoof& r) {
  return {{"id", r.id},           {"environment", hex64(r.environment)},
          {"target", r.target},   {"threads", r.threads},
          {"device", r.device},   {"quantity", r.quantity},
          {"time_ms", r.time_ms}, {"per_second", r.per_second}};
}

RecordedRoof roof_from(const json& in) {
  RecordedRoof r;
  in.at("id").get_to(r.id);
  r.environment = hash_in(in.at("environment"));
  in.at("target").get_to(r.target);
  in.at("threads").get_to(r.threads);
  in.at("device").get_to(r.device);
  in.at("quantity").get_to(r.quantity);
  in.at("per_second").get_to(r.per_second);
  in.at("time_ms").get_to(r.time_ms);
  if (const std::string fault = roof_fault(r); !fault.empty()) throw UserError(fault);
  return r;
}

json to_json(const RecordedCandidate& c) {
  return {{"workload", to_json(c.workload)},
          {"target", c.target},
          {"threads", or_null(c.threads != 0, c.threads)},
          {"device", c.device},
          {"trace", c.trace},
          {"trace_version", c.trace_version},
          {"lowered_hash", hex64(c.lowered_hash)}};
}

RecordedCandidate candidate_from(const json& in) {
  RecordedCandidate c;
  c.workload = workload_from(in.at("workload"));
  in.at("target").get_to(c.target);
  c.threads = value_or(in.at("threads"), 0);
  in.at("device").get_to(c.device);
  in.at("trace").get_to(c.trace);
  in.at("trace_version").get_to(c.trace_version);
  c.lowered_hash = hash_in(in.at("lowered_hash"));
  return c;
}

json seconds_json(const Record& r) {
  return {{"compared", r.seconds},
          {"min", r.timing->min},
          {"median", r.timing->median},
          {"samples", r.timing->samples},
          {"prepare", r.timing->prepare}};
}

json to_json(const Record& r) {
  json out = {{"id", r.id},
              {"workload", r.workload},
              {"workload_hash", hex64(r.workload_hash)},
              {"target", r.target},
              {"threads", or_null(r.threads != 0, r.threads)},
              {"device", r.device},
              {"run", or_null(!r.run.empty(), r.run)},
              {"environment", hex64(r.environment)},
              {"space", r.space},
              {"rules_hash", hex64(r.rules_hash)},
              {"seed", r.seed},
              {"trace", r.trace},
              {"trace_version", r.trace_version},
              {"lowered_hash", or_null(r.lowered_hash.has_value(), hex64(r.lowered_hash.value_or(0)))},
              {"kind", measurement_kind_name(r.kind)},
              {"ranking", r.ranking},
              {"candidate", r.candidate},
              {"status", r.ok() ? "ok" : "failed"},
              {"cause", r.failure ? json(failure_cause_name(r.failure->cause)) : json(nullptr)},
              {"message", r.failure ? json(r.failure->message) : json(nullptr)},
              {"seconds", r.timing ? seconds_json(r) : json(nullptr)},
              {"disturbed", or_null(r.disturbed.has_value(), r.disturbed.value_or(false))},
              {"verified_error", or_null(r.verified_error.has_value(), r.verified_error.value_or(0.0))},
              {"time_ms", r.time_ms}};
  if (r.round > 0) out["round"] = r.round;
  if (r.score) out["score"] = *r.score;
  if (!r.verified_on.empty()) out["verified_on"] = r.verified_on;
  if (r.verifier) out["verifier"] = *r.verifier;
  return out;
}

void read_outcome(const json& in, Record& r) {
  if (!in.at("cause").is_null()) {
    const auto name = in.at("cause").get<std::string>();
    const auto cause = parse_failure_cause(name);
    if (!cause) throw UserError(fmt::format("unknown cause of failure '{}'", name));
    r.failure = CandidateFailure{*cause, in.at("message").get<std::string>()};
  }
  if (const json& seconds = in.at("seconds"); !seconds.is_null()) {
    r.timing = Timing{seconds.at("min").get<double>(), seconds.at("median").get<double>(),
                      seconds.at("samples").get<std::vector<double>>(), seconds.at("prepare").get<double>()};
    seconds.at("compared").get_to(r.seconds);
  }
  if (!in.at("disturbed").is_null()) r.disturbed = in.at("disturbed").get<bool>();
  if (!in.at("verified_error").is_null()) r.verified_error = in.at("verified_error").get<double>();
  if (in.at("status") != (r.ok() ? "ok" : "failed"))
    throw UserError("its status and its cause contradict each other");
}

Record record_from(const json& in) {
  Record r;
  in.at("id").get_to(r.id);
  in.at("workload").get_to(r.workload);
  r.workload_hash = hash_in(in.at("workload_hash"));
  in.at("target").get_to(r.target);
  r.threads = value_or(in.at("threads"), 0);
  in.at("device").get_to(r.device);
  r.run = value_or(in.at("run"), std::string());
  r.environment = hash_in(in.at("environment"));
  in.at("space").get_to(r.space);
  r.rules_hash = hash_in(in.at("rules_hash"));
  in.at("seed").get_to(r.seed);
  in.at("trace").get_to(r.trace);
  in.at("trace_version").get_to(r.trace_version);
  if (!in.at("lowered_hash").is_null()) r.lowered_hash = hash_in(in.at("lowered_hash"));
  const auto kind = parse_measurement_kind(in.at("kind").get_ref<const std::string&>());
  if (!kind) throw UserError("unknown kind of measurement " + in.at("kind").dump());
  r.kind = *kind;
  in.at("ranking").get_to(r.ranking);
  in.at("candidate").get_to(r.candidate);
  r.round = in.value("round", 0);
  if (in.contains("score")) r.score = in.at("score").get<double>();
  r.verified_on = in.value("verified_on", std::string());
  if (in.contains("verifier")) r.verifier = in.at("verifier").get<int>();
  read_outcome(in, r);
  in.at("time_ms").get_to(r.time_ms);
  return r;
}

std::string line(const char* kind, const std::string& payload) {
  return fmt::format(R"({{"checksum":"{}","{}":{},"version":{}}})", json_checksum(payload), kind, payload,
                     kLineVersion);
}

LineContent content_of(const json& all, const std::string& kind, int version) {
  const json& payload = all.at(kind);
  if (kind == "environment") return Environment::parse(canonical(payload));
  if (kind == "record") return version == 1 ? parse_record_v1(payload) : record_from(payload);
  if (kind == "workload") return workload_from(payload);
  if (kind == "space") return space_from(payload);
  if (kind == "roof") return roof_from(payload);
  if (kind == "candidate") return candidate_from(payload);
  return run_from(payload);
}
/// Refuses deep nests, because canonical() would walk them by recursion.
json parse_flat(std::string_view line) {
  return json::parse(line, [](int depth, json::parse_event_t event, json&) {
    const bool begins =
        event == json::parse_event_t::object_start || event == json::parse_event_t::array_start;
    if (begins && depth >= kMaxDepth) throw UserError(fmt::format("nested deeper than {} levels", kMaxDepth));
    return true;
  });
}

}  // namespace

std::string canonical_json(const Record& record) { return canonical(to_json(record)); }
std::string canonical_json(const RecordedWorkload& workload) { return canonical(to_json(workload)); }
std::string canonical_json(const RecordedSpace& space) { return canonical(to_json(space)); }
std::string canonical_json(const RecordedRun& run) { return canonical(to_json(run)); }
std::string canonical_json(const RecordedRoof& roof) { return canonical(to_json(roof)); }
std::string canonical_json(const Environment& environment) { return environment.text(); }
std::string canonical_json(const RecordedCandidate& candidate) { return canonical(to_json(candidate)); }

std::string line_of(const Record& record) { return line("record", canonical_json(record)); }
std::string line_of(const RecordedWorkload& workload) { return line("workload", canonical_json(workload)); }
std::string line_of(const RecordedSpace& space) { return line("space", canonical_json(space)); }
std::string line_of(const RecordedRun& run) { return line("run", canonical_json(run)); }
std::string line_of(const RecordedRoof& roof) { return line("roof", canonical_json(roof)); }
std::string line_of(const Environment& environment) {
  return line("environment", canonical_json(environment));
}

std::string line_of(const RecordedCandidate& candidate) {
  return line("candidate", canonical_json(candidate));
}

std::string json_checksum(std::string_view canonical_json) {
  return sha256_hex(canonical_json).substr(0, 16);
}

LineContent parse_line(std::string_view line) {
  try {
    const json all = parse_flat(line);
    const int version = all.at("version").get<int>();
    if (version > kLineVersion) {
      throw UserError(
          fmt::format("written by a newer Tunesmith (version {} of the format, this one reads {})", version,
                      kLineVersion));
    }
    for (const char* kind : {"environment", "workload", "space", "run", "roof", "record", "candidate"}) {
      if (!all.contains(kind)) continue;
      if (all.at("checksum") != json_checksum(canonical(all.at(kind))))
        throw UserError("damaged: the checksum does not fit the content");
      return content_of(all, kind, version);
    }
    throw UserError(
        "not a record: it has none of the keys environment, workload, space, run, roof, record and "
        "candidate");
  } catch (const json::parse_error&) {
    throw UserError("damaged: not a JSON object");
  } catch (const json::exception& error) {
    throw UserError(fmt::format("not a record: {}", error.what()));
  }
}

uint64_t parse_hash(std::string_view text) {
  uint64_t hash = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), hash, 16);
  if (error != std::errc{} || end != text.data() + text.size() || text.size() != 16)
    throw UserError(fmt::format("'{}' is not a hash of 16 hexadecimal digits", text));
  return hash;
}

std::string samples_json(const std::vector<double>& samples) { return canonical(samples); }

std::vector<double> parse_samples(std::string_view text) {
  try {
    return json::parse(text).get<std::vector<double>>();
  } catch (const json::exception&) {
    throw UserError("its samples are not a list of numbers");
  }
}

}  // namespace tunesmith
