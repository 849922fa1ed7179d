#include "tunesmith/workload/library.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ranges>
#include <set>

#include <fmt/format.h>

#include "tunesmith/support/error.h"
#include "tunesmith/support/installation.h"
#include "tunesmith/support/yaml.h"

namespace tunesmith {

namespace {

constexpr std::string_view kExtension = ".yaml";
constexpr std::string_view kSuiteFile = "suite.yaml";

bool is_path(std::string_view name) {
  return name.find('/') != std::string_view::npos || name.ends_with(kExtension);
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

bool is_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

double weight_of(const YamlNode& node) {
  double weight = 0.0;
  const char* const end = node.text.data() + node.text.size();
  const auto [rest, error] = std::from_chars(node.text.data(), end, weight);
  if (error != std::errc() || rest != end || !std::isfinite(weight) || weight <= 0.0) {
    throw UserError(node.location,
                    fmt::format("a workload's weight must be above zero, found '{}'", node.text));
  }
  return weight;
}

}  // namespace

std::filesystem::path builtin_workload_folder() {
  const auto installed = (library_folder() / TUNESMITH_WORKLOADS_FROM_LIBRARY).lexically_normal();
  return std::filesystem::is_directory(installed) ? installed : TUNESMITH_WORKLOADS_SOURCE;
}

std::pair<std::string, std::vector<ParamText>> parse_workload_text(std::string_view text) {
  const size_t slash = text.rfind('/');
  const size_t colon = text.find(':', slash == std::string_view::npos ? 0 : slash);
  std::pair<std::string, std::vector<ParamText>> parsed;
  parsed.first = trim(text.substr(0, colon));
  if (parsed.first.empty()) {
    throw UserError(fmt::format("'{}' is not a workload", text), "expected NAME or NAME:PARAMETER=VALUE,...");
  }
  if (colon == std::string_view::npos) return parsed;
  std::string_view rest = trim(text.substr(colon + 1));
  while (!rest.empty()) {
    size_t comma = rest.find(',');
    // Further typical values of a range also follow commas.
    while (comma != std::string_view::npos &&
           is_number(trim(rest.substr(comma + 1, rest.find(',', comma + 1) - comma - 1))))
      comma = rest.find(',', comma + 1);
    const std::string_view item = trim(rest.substr(0, comma));
    const size_t equals = item.find('=');
    const std::string_view name = trim(item.substr(0, equals));
    if (equals == std::string_view::npos || name.empty() || trim(item.substr(equals + 1)).empty()) {
      throw UserError(fmt::format("in '{}': '{}' is not PARAMETER=VALUE", text, item),
                      "for example gmm:n=512,m=512");
    }
    parsed.second.emplace_back(name, trim(item.substr(equals + 1)));
    if (comma == std::string_view::npos) break;
    rest = rest.substr(comma + 1);
    if (trim(rest).empty())
      throw UserError(fmt::format("'{}' ends in a comma", text), "expected PARAMETER=VALUE after it");
  }
  return parsed;
}

WorkloadLibrary::WorkloadLibrary(std::vector<std::filesystem::path> folders) : folders_(std::move(folders)) {}

std::vector<std::string> WorkloadLibrary::list() const {
  std::set<std::string> names;
  for (const auto& folder : folders_) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
      const std::filesystem::path& path = entry.path();
      if (path.extension() == kExtension && path.filename() != kSuiteFile) names.insert(path.stem().string());
    }
  }
  return {names.begin(), names.end()};
}

WorkloadDefinition WorkloadLibrary::definition(std::string_view name) const {
  if (is_path(name)) return WorkloadDefinition::read(std::string(name));
  const std::vector<std::string> known = list();
  if (!std::binary_search(known.begin(), known.end(), name)) {
    std::string remedy = suggest(name, known);
    if (known.empty())
      remedy = fmt::format(
          "no workloads in {}",
          fmt::join(folders_ | std::views::transform([](const auto& folder) { return folder.string(); }),
                    ", "));
    throw UserError(fmt::format("unknown workload '{}'", name), std::move(remedy));
  }
  for (const auto& folder : folders_) {
    const std::filesystem::path path = folder / fmt::format("{}{}", name, kExtension);
    std::error_code error;
    if (std::filesystem::exists(path, error)) return WorkloadDefinition::read(path.string());
  }
  throw UserError(fmt::format("the file of workload '{}' has vanished", name));
}

Workload WorkloadLibrary::load(std::string_view text) const {
  const auto [name, params] = parse_workload_text(text);
  return definition(name).instantiate(params);
}

bool is_suite_file(const std::string& path) {
  std::error_code error;
  if (!path.ends_with(kExtension) || !std::filesystem::is_regular_file(path, error)) return false;
  const YamlNode root = read_yaml_file(path);
  return root.kind == YamlNode::Kind::Map && !root.entries.empty() &&
         std::ranges::all_of(root.entries, [](const YamlEntry& entry) {
           return entry.value.kind == YamlNode::Kind::Sequence;
         });
}

std::vector<WorkloadSuite> read_suite_file(const std::string& path) {
  const YamlNode root = read_yaml_file(path);
  if (root.kind != YamlNode::Kind::Map || root.entries.empty())
    throw UserError(root.location, "a suite file is a mapping", "expected ID: [workloads]");
  std::vector<WorkloadSuite> suites;
  for (const YamlEntry& entry : root.entries) {
    WorkloadSuite suite{entry.key, {}, {}};
    for (const YamlNode& item : entry.value.items) {
      const bool weighted = item.kind == YamlNode::Kind::Map && item.entries.size() == 1;
      if (item.kind != YamlNode::Kind::Scalar && !weighted) {
        throw UserError(item.location,
                        fmt::format("expected a workload, or a workload and its weight, found {}",
                                    yaml_kind_name(item.kind)),
                        "for example gmm:n=512,m=512: 3");
      }
      suite.workloads.push_back(weighted ? item.entries.front().key : item.text);
      suite.weights.push_back(weighted ? weight_of(item.entries.front().value) : 1.0);
    }
    if (suite.workloads.empty())
      throw UserError(entry.location, fmt::format("suite '{}' lists no workloads", entry.key));
    suites.push_back(std::move(suite));
  }
  return suites;
}

std::vector<WorkloadSuite> WorkloadLibrary::suites() const {
  for (const auto& folder : folders_) {
    const std::filesystem::path path = folder / kSuiteFile;
    std::error_code error;
    if (std::filesystem::exists(path, error)) return read_suite_file(path.string());
  }
  return {};
}

}  // namespace tunesmith
