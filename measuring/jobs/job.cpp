#include "tunesmith/measuring/job.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "messages/repeats_fields.h"
#include "tunesmith/records/workload_fields.h"
#include "tunesmith/schema/field.h"
#include "tunesmith/schema/json_text.h"
#include "tunesmith/schema/limits.h"
#include "tunesmith/schema/line.h"
#include "tunesmith/support/error.h"

namespace tunesmith {
namespace {

Job read_job(const Field& fields) {
  const Field measure = fields["measure"];
  const Repeats repeats = read_repeats(measure);
  if (repeats.max_repeats < repeats.min_repeats || repeats.max_repeats == 0)
    measure["max_repeats"].wrong(
        fmt::format("is {}, and must be at least 1 and 'min_repeats'", repeats.max_repeats));
  const std::optional<Field> limit = measure.find("limit_seconds");
  return {read_candidate(fields["candidate"]),
          {measure["time_out_seconds"].number(kMinTimeOut, kMaxSeconds),
           measure["memory_limit_bytes"].integer(0, kMaxMemory), repeats.min_repeats, repeats.max_repeats,
           repeats.min_total_seconds},
          limit ? limit->number(0.0, kMaxSeconds) : 0.0};
}

}  // namespace

std::string line_of(const Job& job) {
  const JobOptions& options = job.options;
  nlohmann::json measure{{"time_out_seconds", options.time_out_seconds},
                         {"memory_limit_bytes", options.memory_limit_bytes}};
  if (job.limit_seconds > 0.0) measure["limit_seconds"] = job.limit_seconds;
  add_repeats(measure, {options.min_repeats, options.max_repeats, options.min_total_seconds});
  return line_text("job",
                   canonical_text({{"candidate", candidate_fields(job.candidate)}, {"measure", measure}}));
}

Job parse_job(std::string_view text) {
  const Line line = parse_line_text(text);
  std::string error;
  const Field fields(line.content, error);
  Job job;
  if (line.kind == "job") {
    job = read_job(fields);
  } else if (line.kind == "candidate") {
    job.candidate = read_candidate(fields);
  } else {
    throw UserError(fmt::format("expected a candidate or a job, found a {}", line.kind),
                    "import it with `tunesmith records import`");
  }
  if (!error.empty()) throw UserError(fmt::format("not a {}: {}", line.kind, error));
  return job;
}

}  // namespace tunesmith
