#include "target/unit_keys.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "tunesmith/support/error.h"

namespace tunesmith {
namespace {

constexpr int64_t kMaxPeakSums = 64;

void require_mapping(const YamlNode& node, const char* key, const char* remedy) {
  if (node.kind == YamlNode::Kind::Map) return;
  throw UserError(node.location,
                  fmt::format("{}: expected a mapping, found {}", key, yaml_kind_name(node.kind)), remedy);
}

UnitSetup::Code code_at(const YamlNode& node, const std::string& key) {
  const YamlNode* code = node.find(key);
  if (code == nullptr) return {};
  if (code->kind != YamlNode::Kind::Scalar)
    throw UserError(code->location,
                    fmt::format("{}: expected a text, found {}", key, yaml_kind_name(code->kind)));
  return {code->text, code->at(0)};
}

}  // namespace

UnitSetup read_unit_setup(const YamlNode& node, const std::string& extension) {
  require_mapping(node, "setup", "code for the process, for each thread, or for both");
  refuse_unknown_keys(node, {"process", "thread"}, "setup");
  UnitSetup setup{extension, code_at(node, "process"), code_at(node, "thread")};
  if (setup.process.text.empty() && setup.thread.text.empty())
    throw UserError(node.location, "setup: expected one of the keys 'process' and 'thread', or both");
  return setup;
}

std::map<std::string, int64_t> read_unit_peaks(const YamlNode& node) {
  require_mapping(node, "peak", "the name of an intrinsic and how many sums it computes at once: {NAME: 4}");
  std::map<std::string, int64_t> peaks;
  for (const YamlEntry& entry : node.entries) {
    const std::string& text = entry.value.text;
    int64_t sums = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), sums);
    if (error != std::errc() || end != text.data() + text.size() || sums < 1 || sums > kMaxPeakSums)
      throw UserError(entry.value.location,
                      fmt::format("peak: {}: expected how many sums it computes at once, 1 to {}, found '{}'",
                                  entry.key, kMaxPeakSums, text));
    peaks[entry.key] = sums;
  }
  return peaks;
}

void check_unit_peaks(const YamlNode& node, const std::vector<TensorIntrinsicPtr>& intrinsics) {
  std::vector<std::string> names;
  for (const TensorIntrinsicPtr& intrinsic : intrinsics) names.push_back(intrinsic->name);
  for (const YamlEntry& entry : node.entries) {
    const auto found = std::ranges::find(names, entry.key);
    if (found == names.end())
      throw UserError(entry.value.location, fmt::format("peak: unknown intrinsic '{}'", entry.key),
                      suggest(entry.key, names));
    const TensorIntrinsic& intrinsic = *intrinsics[static_cast<size_t>(found - names.begin())];
    if (!intrinsic.level.empty())
      throw UserError(entry.value.location,
                      fmt::format("peak: {} is a group instruction, whose peak the target knows", entry.key));
    if (intrinsic.block().init() == nullptr)
      throw UserError(entry.value.location, fmt::format("peak: {} does not accumulate", entry.key));
  }
}

}  // namespace tunesmith
