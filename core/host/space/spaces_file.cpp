#include "tunesmith/space/spaces_file.h"

#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "space/read_space.h"
#include "tunesmith/support/yaml.h"
#include "tunesmith/workload/library.h"

namespace tunesmith {
namespace {

constexpr int kVersion = 1;
/// Each space is read recursively within the one that extends it, and copies what it extends.
constexpr size_t kMaxExtends = 64;
constexpr size_t kMaxSpaces = 256;

/// The built-in spaces, which every file may extend; nothing while that file itself is read.
std::optional<SpacesFile> builtin_spaces(const std::string& reading) {
  namespace fs = std::filesystem;
  const fs::path file = builtin_workload_folder().parent_path() / "spaces.yaml";
  std::error_code error;
  if (!fs::exists(file, error) || fs::equivalent(file, reading, error)) return std::nullopt;
  return SpacesFile::load(file);
}

/// Resolves `extends` from the roots down.
class Resolver {
 public:
  /// `done` receives the spaces, `faulty` the names of those with errors or that extend one with errors.
  Resolver(const YamlNode& spaces, std::map<std::string, SpaceSpec>& done, std::set<std::string>& faulty,
           std::string file, Faults& faults)
      : spaces_(spaces), done_(done), faulty_(faulty), file_(std::move(file)), faults_(faults) {
    for (const YamlEntry& entry : spaces.entries) names_.push_back(entry.key);
  }

  /// Reads as much of the space as is valid; null for a cycle, or if an extended space or a pack is missing.
  const SpaceSpec* resolve(const YamlEntry& entry) {
    if (const auto found = done_.find(entry.key); found != done_.end()) return &found->second;
    if (missing_.contains(entry.key)) return nullptr;
    open_.push_back(entry.key);
    std::optional<SpaceSpec> spec;
    const size_t before = faults_.count();
    faults_.attempt([&] { spec = read(entry); });
    open_.pop_back();
    if (faults_.count() > before) faulty_.insert(entry.key);
    if (!spec || spec->target.id.empty() || spec->search.empty() || spec->cost_model.id.empty()) {
      missing_.insert(entry.key);
      return nullptr;
    }
    return &done_.emplace(entry.key, *std::move(spec)).first->second;
  }

 private:
  /// Nothing if a cycle was already reported.
  std::optional<SpaceSpec> read(const YamlEntry& entry) {
    expect_kind(entry.value, YamlNode::Kind::Map, fmt::format("space '{}'", entry.key));
    refuse_unknown_space_keys(entry.value, faults_);
    SpaceSpec spec;
    if (const YamlNode* base = entry.value.find("extends")) {
      const SpaceSpec* extended = resolve_base(*base);
      if (extended == nullptr && missing_.contains(entry.key)) return std::nullopt;
      if (extended == nullptr)
        throw UserError(base->location,
                        fmt::format("space '{}' is not checked: it extends '{}'", entry.key, base->text));
      if (faulty_.contains(extended->name)) faulty_.insert(entry.key);
      spec = *extended;
      spec.description.clear();
    }
    spec.name = entry.key;
    spec.location = entry.location;
    read_space(entry, spec, faults_);
    return spec;
  }

  const SpaceSpec* resolve_base(const YamlNode& base) {
    const std::string& name = text_of(base, "extends");
    if (const auto begin = std::ranges::find(open_, name); begin != open_.end()) {
      missing_.insert(begin, open_.end());
      throw UserError(base.location,
                      fmt::format("circular 'extends': {} → {}", fmt::join(begin, open_.end(), " → "), name),
                      "remove one 'extends'");
    }
    if (open_.size() >= kMaxExtends)
      throw UserError(base.location, fmt::format("more than {} spaces extend one another", kMaxExtends));
    const auto found = std::ranges::find(spaces_.entries, name, &YamlEntry::key);
    return found == spaces_.entries.end() ? &resolve_builtin(base, name) : resolve(*found);
  }

  const SpaceSpec& resolve_builtin(const YamlNode& base, const std::string& name) {
    if (!builtin_) builtin_ = builtin_spaces(file_);
    std::vector<std::string> known = names_;
    if (*builtin_) {
      for (const std::string& other : (*builtin_)->names()) {
        if (other == name) return (*builtin_)->space(name);
        known.push_back(other);
      }
    }
    throw UserError(base.location, fmt::format("no space '{}'", name), suggest(name, known));
  }

  const YamlNode& spaces_;
  std::map<std::string, SpaceSpec>& done_;
  std::set<std::string>& faulty_;
  const std::string file_;
  Faults& faults_;
  std::vector<std::string> names_;
  std::vector<std::string> open_;  // each is extended by the previous one
  std::set<std::string> missing_;
  std::optional<std::optional<SpacesFile>> builtin_;  // read on demand
};

void check_version(const YamlNode& root) {
  const YamlNode* version = root.find("version");
  if (version == nullptr) throw UserError(root.location, "expected the key 'version: 1'");
  const int64_t number = integer_of(*version, "version");
  if (number == kVersion) return;
  throw UserError(version->location,
                  fmt::format("unknown version {}, this Tunesmith reads version {}", number, kVersion),
                  number > kVersion ? "use a newer Tunesmith" : "");
}

const YamlNode& spaces_of(const YamlNode& root) {
  const YamlNode* spaces = root.find("spaces");
  if (spaces == nullptr) throw UserError(root.location, "expected the key 'spaces'");
  expect_kind(*spaces, YamlNode::Kind::Map, "spaces");
  if (spaces->entries.empty()) throw UserError(spaces->location, "spaces: expected at least one space");
  if (spaces->entries.size() > kMaxSpaces)
    throw UserError(spaces->location,
                    fmt::format("{} spaces, at most {} are allowed", spaces->entries.size(), kMaxSpaces));
  return *spaces;
}

/// For callers that accept no errors.
SpacesFile without_faults(SpacesFile file, const std::vector<UserError>& faults) {
  if (!faults.empty()) throw UserError(faults.front());
  return file;
}

}  // namespace

SpacesFile SpacesFile::load(const std::filesystem::path& path, std::vector<UserError>& faults) {
  SpacesFile file;
  file.read(read_yaml_file(path.string()), path.string(), faults);
  return file;
}

SpacesFile SpacesFile::parse(const std::string& text, const std::string& file_name,
                             std::vector<UserError>& faults) {
  SpacesFile file;
  file.read(parse_yaml(text, file_name), file_name, faults);
  return file;
}

SpacesFile SpacesFile::load(const std::filesystem::path& path) {
  std::vector<UserError> faults;
  return without_faults(load(path, faults), faults);
}

SpacesFile SpacesFile::parse(const std::string& text, const std::string& file_name) {
  std::vector<UserError> faults;
  return without_faults(parse(text, file_name, faults), faults);
}

void SpacesFile::read(const YamlNode& root, const std::string& file_name, std::vector<UserError>& list) {
  file_ = file_name;
  Faults faults(list);
  expect_kind(root, YamlNode::Kind::Map, "a spaces file");
  faults.unknown_keys(root, {"version", "default", "plugins", "spaces"}, "a spaces file");
  check_version(root);
  if (const YamlNode* plugins = root.find("plugins")) {
    faults.attempt([&] {
      expect_kind(*plugins, YamlNode::Kind::Sequence, "plugins");
      const std::filesystem::path folder = std::filesystem::path(file_name).parent_path();
      for (const YamlNode& item : plugins->items)
        plugin_paths_.push_back((folder / text_of(item, "a folder with plugins")).string());
    });
  }
  const YamlNode& spaces = spaces_of(root);
  Resolver resolver(spaces, spaces_, faulty_, file_name, faults);
  for (const YamlEntry& entry : spaces.entries) resolver.resolve(entry);
  default_ = spaces.entries.front().key;
  if (const YamlNode* chosen = root.find("default")) {
    faults.attempt([&] {
      default_ = text_of(*chosen, "default");
      if (spaces.find(default_) == nullptr)
        throw UserError(chosen->location, fmt::format("no space '{}'", default_), suggest(default_, names()));
    });
  }
}

std::vector<std::string> SpacesFile::names() const {
  std::vector<std::string> names;
  for (const auto& [name, spec] : spaces_) names.push_back(name);
  return names;
}

const SpaceSpec& SpacesFile::space(const std::string& name) const {
  const auto found = spaces_.find(name.empty() ? default_ : name);
  if (found == spaces_.end()) {
    throw UserError(SourceLocation{file_}, fmt::format("no space '{}'", name), suggest(name, names()));
  }
  return found->second;
}

}  // namespace tunesmith
