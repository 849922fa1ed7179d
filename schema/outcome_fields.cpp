#include "tunesmith/schema/outcome_fields.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tunesmith/schema/limits.h"

namespace tunesmith {

void add_failure(nlohmann::json& fields, const CandidateFailure& failure) {
  fields["cause"] = failure_cause_name(failure.cause);
  fields["message"] = failure.message;
}

CandidateFailure read_failure(const Field& fields, size_t max_message) {
  constexpr size_t kShown = 40;
  const Field cause = fields["cause"];
  const std::string name = cause.text(kMaxName);
  const std::optional<FailureCause> known = parse_failure_cause(name);
  if (!known) cause.wrong(fmt::format("is '{}', which is no cause of a failure", name.substr(0, kShown)));
  return {known.value_or(FailureCause::WorkerLost), fields["message"].text(max_message)};
}

std::vector<double> read_samples(const Field& list, size_t min, size_t max) {
  return list.list(min, max, [](const Field& sample) { return sample.number(kMinSeconds, kMaxSeconds); });
}

}  // namespace tunesmith
