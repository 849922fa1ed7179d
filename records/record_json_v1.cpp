#include "record_json_v1.h"

#include <limits>

#include <nlohmann/json.hpp>

#include "tunesmith/records/record_json.h"
#include "tunesmith/schema/json_text.h"
#include "tunesmith/schema/limits.h"
#include "tunesmith/support/hash.h"

namespace tunesmith {

using nlohmann::json;

Record record_of_v1(const Field& in) {
  Record r;
  r.id = in["id"].text(kMaxName);
  r.workload = in["workload"].text(kMaxIdentity);
  r.workload_hash = in["workload_hash"].hash();
  r.target = in["target"].text(kMaxIdentity);
  r.environment = in["environment"].hash();
  r.space = in["space"].text(kMaxName);
  r.rules_hash = in["rules_hash"].hash();
  r.trace = in["trace"].text(kMaxText);
  r.trace_version = static_cast<int>(in["trace_version"].integer(0, std::numeric_limits<int>::max()));
  r.seed = in["seed"].bits();
  r.candidate = in["candidate"].bits();
  r.time_ms = in["time_ms"].integer(std::numeric_limits<int64_t>::min(), kAnyCount);
  read_outcome(in, r);
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
  return canonical_text(out);
}

}  // namespace tunesmith
