#include "tunesmith/records/recorded_candidate.h"

#include <fmt/format.h>

#include "records/record_json.h"
#include "tunesmith/support/error.h"

namespace tunesmith {
namespace {

constexpr size_t kMaxLineBytes = size_t{4} << 20;
constexpr size_t kMaxTextBytes = size_t{1} << 20;  // of the trace, and of the definition
constexpr size_t kMaxTargetBytes = size_t{64} << 10;

void check_size(std::string_view what, const std::string& text, size_t limit) {
  if (text.size() > limit) throw UserError(fmt::format("its {} is larger than {} bytes", what, limit));
}

}  // namespace

RecordedCandidate parse_candidate(std::string_view line) {
  if (line.size() > kMaxLineBytes) throw UserError(fmt::format("larger than {} bytes", kMaxLineBytes));
  LineContent content = parse_line(line);
  auto* candidate = std::get_if<RecordedCandidate>(&content);
  if (candidate == nullptr) {
    throw UserError("expected a candidate, found another line of the records' format",
                    "`tunesmith records import` takes those");
  }
  check_size("trace", candidate->trace, kMaxTextBytes);
  check_size("workload's definition", candidate->workload.definition, kMaxTextBytes);
  check_size("target", candidate->target, kMaxTargetBytes);
  return std::move(*candidate);
}

}  // namespace tunesmith
