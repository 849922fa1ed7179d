#include "tunesmith/records/recorded_candidate.h"

#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "current_target.h"
#include "tunesmith/records/workload_fields.h"
#include "tunesmith/schema/json_text.h"
#include "tunesmith/schema/limits.h"
#include "tunesmith/schema/line.h"
#include "tunesmith/support/error.h"
#include "tunesmith/support/hash.h"

namespace tunesmith {

using nlohmann::json;

json workload_fields(const RecordedWorkload& workload) {
  return {{"hash", hex64(workload.hash)},
          {"text", workload.text},
          {"definition", workload.definition.empty() ? json(nullptr) : json(workload.definition)}};
}

RecordedWorkload read_workload(const Field& fields) {
  RecordedWorkload workload{fields["hash"].hash(), fields["text"].text(kMaxIdentity), ""};
  if (const auto definition = fields["definition"].if_known())
    workload.definition = definition->text(kMaxText);
  return workload;
}

json candidate_fields(const RecordedCandidate& candidate) {
  return {{"workload", workload_fields(candidate.workload)},
          {"target", candidate.target},
          {"threads", candidate.threads == 0 ? json(nullptr) : json(candidate.threads)},
          {"device", candidate.device},
          {"trace", candidate.trace},
          {"trace_version", candidate.trace_version},
          {"lowered_hash", hex64(candidate.lowered_hash)}};
}

RecordedCandidate read_candidate(const Field& fields) {
  RecordedCandidate candidate;
  candidate.workload = read_workload(fields["workload"]);
  candidate.target = current_target(fields["target"].text(kMaxIdentity));
  if (const auto threads = fields["threads"].if_known())
    candidate.threads = static_cast<int>(threads->integer(1, kMaxThreads));
  candidate.device = fields["device"].text(kMaxName);
  candidate.trace = fields["trace"].text(kMaxText);
  candidate.trace_version =
      static_cast<int>(fields["trace_version"].integer(0, std::numeric_limits<int>::max()));
  candidate.lowered_hash = fields["lowered_hash"].hash();
  return candidate;
}

std::string line_of(const RecordedCandidate& candidate) {
  return line_text("candidate", canonical_text(candidate_fields(candidate)));
}

RecordedCandidate parse_candidate(std::string_view text) {
  const Line line = parse_line_text(text);
  if (line.kind != "candidate") throw UserError(fmt::format("expected a candidate, found a {}", line.kind));
  std::string error;
  RecordedCandidate candidate = read_candidate(Field(line.content, error));
  if (!error.empty()) throw UserError(fmt::format("not a candidate: {}", error));
  return candidate;
}

}  // namespace tunesmith
