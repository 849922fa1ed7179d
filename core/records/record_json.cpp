#include "records/record_json.h"

#include <charconv>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tunesmith/support/error.h"
#include "tunesmith/support/hash.h"

namespace tunesmith {

namespace {
using nlohmann::json;

constexpr int kLineVersion = 1;

std::string canonical(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

uint64_t parse_hash(const json& value) {
  const auto& text = value.get_ref<const std::string&>();
  uint64_t hash = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), hash, 16);
  if (error != std::errc{} || end != text.data() + text.size() || text.size() != 16) {
    throw UserError(fmt::format("'{}' is not a hash of 16 hexadecimal digits", text));
  }
  return hash;
}

json to_json(const Record& r) {
  json out = {{"id", r.id},
              {"workload", r.workload},
              {"workload_hash", hex64(r.workload_hash)},
              {"target", r.target},
              {"environment", hex64(r.environment)},
              {"space", r.space},
              {"rules_hash", hex64(r.rules_hash)},
              {"trace", r.trace},
              {"trace_version", r.trace_version},
              {"program_hash", hex64(r.program_hash)},
              {"status", r.ok() ? "ok" : "failed"},
              {"cause", nullptr},
              {"message", nullptr},
              {"seconds", nullptr},
              {"verified_error", nullptr},
              {"seed", r.seed},
              {"candidate", r.candidate},
              {"time_ms", r.time_ms}};
  if (r.failure) {
    out["cause"] = failure_cause_name(r.failure->cause);
    out["message"] = r.failure->message;
  }
  if (r.timing) {
    out["seconds"] = {{"min", r.timing->min}, {"median", r.timing->median}, {"samples", r.timing->samples}};
    // Only where there is one, so that the checksums of records without it stay what they were.
    if (r.timing->prepare > 0.0) out["seconds"]["prepare"] = r.timing->prepare;
  }
  if (r.verified_error) out["verified_error"] = *r.verified_error;
  return out;
}

Record from_json(const json& in) {
  Record r;
  in.at("id").get_to(r.id);
  in.at("workload").get_to(r.workload);
  r.workload_hash = parse_hash(in.at("workload_hash"));
  in.at("target").get_to(r.target);
  r.environment = parse_hash(in.at("environment"));
  in.at("space").get_to(r.space);
  r.rules_hash = parse_hash(in.at("rules_hash"));
  in.at("trace").get_to(r.trace);
  in.at("trace_version").get_to(r.trace_version);
  r.program_hash = parse_hash(in.at("program_hash"));
  if (!in.at("cause").is_null()) {
    const auto name = in.at("cause").get<std::string>();
    const auto cause = parse_failure_cause(name);
    if (!cause) throw UserError(fmt::format("unknown cause of failure '{}'", name));
    r.failure = CandidateFailure{*cause, in.at("message").get<std::string>()};
  }
  if (const json& seconds = in.at("seconds"); !seconds.is_null()) {
    r.timing = Timing{seconds.at("min").get<double>(), seconds.at("median").get<double>(),
                      seconds.at("samples").get<std::vector<double>>(), seconds.value("prepare", 0.0)};
  }
  if (!in.at("verified_error").is_null()) r.verified_error = in.at("verified_error").get<double>();
  in.at("seed").get_to(r.seed);
  in.at("candidate").get_to(r.candidate);
  in.at("time_ms").get_to(r.time_ms);
  if (in.at("status") != (r.ok() ? "ok" : "failed"))
    throw UserError("its status and its cause contradict each other");
  return r;
}

std::string line_of(const char* kind, const std::string& payload) {
  return fmt::format(R"({{"checksum":"{}","{}":{},"version":{}}})", json_checksum(payload), kind, payload,
                     kLineVersion);
}
}  // namespace

std::string record_json(const Record& record) { return canonical(to_json(record)); }

std::string json_checksum(std::string_view canonical_json) {
  return sha256_hex(canonical_json).substr(0, 16);
}

std::string record_line(const Record& record) { return line_of("record", record_json(record)); }

std::string environment_line(const Environment& environment) {
  return line_of("environment", environment.text());
}

std::variant<Environment, Record> parse_line(std::string_view line) {
  try {
    const json all = json::parse(line);
    if (const int version = all.at("version").get<int>(); version > kLineVersion) {
      throw UserError(
          fmt::format("written by a newer Tunesmith (version {} of the format, this one reads {})", version,
                      kLineVersion));
    }
    const bool is_record = all.contains("record");
    const json& payload = all.at(is_record ? "record" : "environment");
    const std::string text = canonical(payload);
    if (all.at("checksum") != json_checksum(text))
      throw UserError("damaged: the checksum does not fit the content");
    if (is_record) return from_json(payload);
    return Environment::parse(text);
  } catch (const json::parse_error&) {
    throw UserError("damaged: not a JSON object");
  } catch (const json::exception& error) {
    throw UserError(fmt::format("not a record: {}", error.what()));
  }
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
