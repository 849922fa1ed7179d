#include "tunesmith/measuring/turns.h"

#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tunesmith/records/record_json.h"
#include "tunesmith/records/recorded_candidate.h"
#include "tunesmith/schema/field.h"
#include "tunesmith/schema/json_text.h"
#include "tunesmith/schema/limits.h"
#include "tunesmith/schema/line.h"
#include "tunesmith/schema/outcome_fields.h"
#include "tunesmith/support/error.h"

namespace tunesmith {
namespace {

nlohmann::json fields_of(const InterleavedTimes& times) {
  nlohmann::json fields{{"samples", times.samples}, {"disturbed", times.disturbed}};
  if (times.failure) add_failure(fields, *times.failure);
  for (const auto& [values, samples] : times.at)
    fields["at"].push_back({{"values", values}, {"samples", samples}});
  return fields;
}

SamplesAt read_samples_at(const Field& fields) {
  return {fields["values"].list(1, kMaxName, [](const Field& value) { return value.integer(0, kAnyCount); }),
          read_samples(fields["samples"], 0, static_cast<size_t>(kMaxRepeats))};
}

InterleavedTimes read_times(const Field& fields) {
  InterleavedTimes times;
  times.samples = read_samples(fields["samples"], 0, static_cast<size_t>(kMaxRepeats));
  times.disturbed = static_cast<size_t>(fields["disturbed"].integer(0, kMaxRepeats));
  if (fields.find("cause")) times.failure = read_failure(fields, kMaxMessage);
  if (const auto at = fields.find("at")) times.at = at->list(0, kMaxName, read_samples_at);
  if (times.samples.empty() != times.failure.has_value())
    fields.wrong("has samples and a failure, or neither");
  return times;
}

/// Reads `text`, which must be one line of this kind.
nlohmann::json content_of(std::string_view text, std::string_view kind) {
  Line line = parse_line_text(text);
  if (line.kind != kind) throw UserError(fmt::format("expected a {}, found a {}", kind, line.kind));
  return std::move(line.content);
}

template <typename Read>
auto read_all(std::string_view kind, const nlohmann::json& content, const Read& read) {
  std::string error;
  auto value = read(Field(content, error));
  if (!error.empty()) throw UserError(fmt::format("not a {}: {}", kind, error));
  return value;
}

}  // namespace

std::string text_of(const Turns& turns) {
  const nlohmann::json how{{"candidates", turns.candidates.size()},
                           {"rounds", turns.rounds},
                           {"min_rounds", turns.min_rounds},
                           {"budget_seconds", turns.budget_seconds},
                           {"peak", turns.peak},
                           {"time_out_seconds", turns.options.time_out_seconds},
                           {"memory_limit_bytes", turns.options.memory_limit_bytes}};
  std::string text = line_text("turns", canonical_text(how));
  for (const RecordedCandidate& one : turns.candidates) text += '\n' + line_of(one);
  return text;
}

Turns parse_turns(std::string_view text) {
  std::istringstream lines{std::string(text)};
  std::string line;
  if (!read_line(lines, line)) throw UserError("it is empty");
  size_t count = 0;
  Turns turns = read_all("turns", content_of(line, "turns"), [&](const Field& fields) {
    Turns read;
    count = static_cast<size_t>(fields["candidates"].integer(0, kMaxInTurn));
    read.rounds = static_cast<int>(fields["rounds"].integer(1, kMaxRepeats));
    read.min_rounds = static_cast<int>(fields["min_rounds"].integer(0, kMaxRepeats));
    read.budget_seconds = fields["budget_seconds"].number(0.0, kMaxSeconds);
    read.peak = fields["peak"].boolean();
    read.options.time_out_seconds = fields["time_out_seconds"].number(kMinTimeOut, kMaxSeconds);
    read.options.memory_limit_bytes = fields["memory_limit_bytes"].integer(0, kMaxMemory);
    return read;
  });
  while (read_line(lines, line)) {
    if (turns.candidates.size() == count) throw UserError("has more candidates than it states");
    turns.candidates.push_back(parse_candidate(line));
    const RecordedCandidate& first = turns.candidates.front();
    const RecordedCandidate& last = turns.candidates.back();
    if (last.workload != first.workload || last.target != first.target || last.threads != first.threads)
      throw UserError("has candidates of several tasks");
  }
  if (turns.candidates.size() != count || count == 0)
    throw UserError(fmt::format("has {} candidates, but states {}", turns.candidates.size(), count));
  return turns;
}

std::string text_of(const Answer& answer) {
  if (const auto* record = std::get_if<Record>(&answer)) return line_of(*record);
  if (const auto* refusal = std::get_if<Refusal>(&answer))
    return line_text("refusal", canonical_text({{"why", refusal->why.substr(0, kKeptMessage)}}));
  nlohmann::json list = nlohmann::json::array();
  for (const InterleavedTimes& one : std::get<std::vector<InterleavedTimes>>(answer))
    list.push_back(fields_of(one));
  return line_text("times", canonical_text({{"times", std::move(list)}}));
}

Answer parse_answer(std::string_view text) {
  const Line line = parse_line_text(text);
  if (line.kind == "refusal")
    return read_all(line.kind, line.content,
                    [](const Field& fields) { return Refusal{fields["why"].text(kMaxMessage)}; });
  if (line.kind == "times")
    return read_all(line.kind, line.content,
                    [](const Field& fields) { return fields["times"].list(1, kMaxInTurn + 1, read_times); });
  if (line.kind != "record")
    throw UserError(fmt::format("expected a record, times or a refusal, found a {}", line.kind));
  Record record = std::get<Record>(parse_line(text));
  if (const std::string fault = record_fault(record); !fault.empty())
    throw UserError(fmt::format("not a record: {}", fault));
  return record;
}

}  // namespace tunesmith
