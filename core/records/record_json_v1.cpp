#include "records/record_json_v1.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "records/record_json.h"
#include "tunesmith/support/error.h"
#include "tunesmith/support/hash.h"

namespace tunesmith {

using nlohmann::json;

Record parse_record_v1(const json& in) {
  Record r;
  in.at("id").get_to(r.id);
  in.at("workload").get_to(r.workload);
  r.workload_hash = parse_hash(in.at("workload_hash").get_ref<const std::string&>());
  in.at("target").get_to(r.target);
  r.environment = parse_hash(in.at("environment").get_ref<const std::string&>());
  in.at("space").get_to(r.space);
  r.rules_hash = parse_hash(in.at("rules_hash").get_ref<const std::string&>());
  in.at("trace").get_to(r.trace);
  in.at("trace_version").get_to(r.trace_version);
  if (!in.at("cause").is_null()) {
    const auto name = in.at("cause").get<std::string>();
    const auto cause = parse_failure_cause(name);
    if (!cause) throw UserError(fmt::format("unknown cause of failure '{}'", name));
    r.failure = CandidateFailure{*cause, in.at("message").get<std::string>()};
  }
  if (const json& seconds = in.at("seconds"); !seconds.is_null()) {
    r.timing = Timing{seconds.at("min").get<double>(), seconds.at("median").get<double>(),
                      seconds.at("samples").get<std::vector<double>>(), seconds.value("prepare", 0.0)};
    r.seconds = r.timing->min;
  }
  if (!in.at("verified_error").is_null()) r.verified_error = in.at("verified_error").get<double>();
  in.at("seed").get_to(r.seed);
  in.at("candidate").get_to(r.candidate);
  in.at("time_ms").get_to(r.time_ms);
  if (in.at("status") != (r.ok() ? "ok" : "failed"))
    throw UserError("its status and its cause contradict each other");
  return r;
}

std::string canonical_json_v1(const Record& r, uint64_t program_hash) {
  json out = {{"id", r.id},
              {"workload", r.workload},
              {"workload_hash", hex64(r.workload_hash)},
              {"target", r.target},
              {"environment", hex64(r.environment)},
              {"space", r.space},
              {"rules_hash", hex64(r.rules_hash)},
              {"trace", r.trace},
              {"trace_version", r.trace_version},
              {"program_hash", hex64(program_hash)},
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
    if (r.timing->prepare > 0.0) out["seconds"]["prepare"] = r.timing->prepare;
  }
  if (r.verified_error) out["verified_error"] = *r.verified_error;
  return out.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace tunesmith
