#include "shard.h"

#include <algorithm>

#include <fmt/format.h>

#include <tunesmith/proposals/sequence.h>
#include <tunesmith/support/error.h>
#include <tunesmith/support/files.h>
#include <tunesmith/support/hash.h>

#include "common/print_json.h"

namespace tunesmith::cli {
namespace {

nlohmann::json parse_head(const std::string& text, const std::filesystem::path& path) {
  nlohmann::json head = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!head.is_object() || !head.contains("format"))
    throw UserError(SourceLocation{path.string(), 1, 1}, "not a shard of a prior", "name another file");
  return head;
}

void require_same(const nlohmann::json& there, const nlohmann::json& asked,
                  const std::filesystem::path& path) {
  for (const auto& [key, value] : asked.items()) {
    const nlohmann::json known = there.value(key, nlohmann::json());
    if (known == value) continue;
    throw UserError(SourceLocation{path.string(), 1, 1},
                    fmt::format("this shard has {} {}, expected {}", key, json_line(known), json_line(value)),
                    "give another file, or remove this one");
  }
}

}  // namespace

ShardTask::ShardTask(const Workload& workload, const std::string& source, const DeviceModel& device)
    : line_{{"workload", workload.key},
            {"source", source},
            {"flops", workload.flops},
            {"task", to_text(describe_task(workload.program, device))},
            {"sketches", nlohmann::json::array()},
            {"choices", nlohmann::json::array()},
            {"programs", nlohmann::json::array()}} {}

size_t ShardTask::place_of(const char* array, const nlohmann::json& value) {
  nlohmann::json& all = line_[array];
  const auto found = std::ranges::find(all, value);
  const auto place = static_cast<size_t>(found - all.begin());
  if (found == all.end()) all.push_back(value);
  return place;
}

void ShardTask::add(const Candidate& candidate, double score, std::optional<double> seconds) {
  nlohmann::json steps = nlohmann::json::array();
  for (const SequenceStep& step :
       steps_of(std::span(candidate.points.begin(), candidate.points.end()), candidate.trace)) {
    nlohmann::json choices{{"choices", step.choices}};
    if (!step.values.empty()) choices["values"] = step.values;
    const auto chosen = std::ranges::find(step.choices, step.chosen) - step.choices.begin();
    steps.push_back({step.instruction, step.element, place_of("choices", choices), chosen});
  }
  const std::string sketch = candidate.trace.with_open_decisions().str();
  line_["programs"].push_back({{"sketch", place_of("sketches", sketch)},
                               {"steps", std::move(steps)},
                               {"score", score},
                               {"seconds", seconds ? nlohmann::json(*seconds) : nlohmann::json()},
                               {"lowered_hash", hex64(candidate.lowered_hash)}});
}

ShardFile::ShardFile(std::filesystem::path path, const nlohmann::json& head) : path_(std::move(path)) {
  const bool is_there = std::filesystem::exists(path_) && !std::filesystem::is_empty(path_);
  if (is_there) {
    const std::string text = read_whole_file(path_);
    require_same(parse_head(text.substr(0, text.find('\n')), path_), head, path_);
    const size_t whole = text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1;
    lines_ = static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
    lines_ -= std::min<size_t>(lines_, 1);
    std::filesystem::resize_file(path_, whole);
    stream_.open(path_, std::ios::app);
    if (whole == 0) add(head);
    return;
  }
  stream_.open(path_, std::ios::trunc);
  add(head);
}

void ShardFile::add(const nlohmann::json& line) {
  stream_ << json_line(line) << '\n' << std::flush;
  if (!stream_) throw EnvironmentError(fmt::format("{} cannot be written", path_.string()));
}

}  // namespace tunesmith::cli
