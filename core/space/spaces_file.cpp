#include "tunesmith/space/spaces_file.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "support/yaml.h"
#include "tunesmith/workload/library.h"

namespace tunesmith {
namespace {

constexpr int kVersion = 1;

[[noreturn]] void fail(const SourceLocation& at, const std::string& message, const std::string& remedy = {}) {
  throw UserError(at, message, remedy);
}

void expect(const YamlNode& node, YamlNode::Kind kind, const std::string& what) {
  if (node.kind == kind) return;
  fail(node.location,
       fmt::format("{}: expected {}, found {}", what, yaml_kind_name(kind), yaml_kind_name(node.kind)));
}

const std::string& text_of(const YamlNode& node, const std::string& what) {
  expect(node, YamlNode::Kind::Scalar, what);
  return node.text;
}

int64_t integer_of(const YamlNode& node, const std::string& what) {
  const std::string& text = text_of(node, what);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    fail(node.location, fmt::format("{}: expected an integer, found '{}'", what, text));
  }
  return value;
}

RawOption option_from(const YamlEntry& entry) {
  RawOption option{entry.key, entry.location, RawOption::Shape::Null, {}, entry.value.location};
  const YamlNode& value = entry.value;
  switch (value.kind) {
    case YamlNode::Kind::Null:
      break;
    case YamlNode::Kind::Scalar:
      option.shape = RawOption::Shape::Scalar;
      option.values.push_back({value.text, value.location, value.quoted});
      for (const YamlNode::Segment& segment : value.segments) {
        option.values.back().parts.emplace_back(
            segment.offset, SourceLocation{value.location.file, segment.line, segment.column});
      }
      break;
    case YamlNode::Kind::Map:
      option.shape = RawOption::Shape::Mapping;
      break;
    case YamlNode::Kind::Sequence:
      option.shape = RawOption::Shape::List;
      for (const YamlNode& item : value.items) {
        if (item.kind != YamlNode::Kind::Scalar) option.shape = RawOption::Shape::Mapping;
        option.values.push_back({item.text, item.location, item.quoted});
      }
      break;
  }
  return option;
}

/// Options of a plugin from a mapping (or nothing), leaving out the keys in `reserved`.
std::vector<RawOption> options_from(const YamlNode& node, const std::string& what,
                                    const std::vector<std::string>& reserved = {}) {
  std::vector<RawOption> options;
  if (node.kind == YamlNode::Kind::Null) return options;
  expect(node, YamlNode::Kind::Map, what);
  for (const YamlEntry& entry : node.entries) {
    if (std::find(reserved.begin(), reserved.end(), entry.key) == reserved.end())
      options.push_back(option_from(entry));
  }
  return options;
}

/// `- id` or `- id: {options}`.
PluginUse use_from(const YamlNode& node, const std::string& what,
                   const std::vector<std::string>& reserved = {}) {
  if (node.kind == YamlNode::Kind::Scalar) return {node.text, node.location, {}, false};
  expect(node, YamlNode::Kind::Map, what);
  if (node.entries.size() != 1) {
    fail(node.location, fmt::format("{}: expected one plugin, as 'id: {{options}}', found {} keys", what,
                                    node.entries.size()));
  }
  const YamlEntry& entry = node.entries.front();
  return {entry.key, entry.location, options_from(entry.value, "options of '" + entry.key + "'", reserved),
          false};
}

/// `{kind: id, options...}`.
PluginUse kind_from(const YamlNode& node, const std::string& what,
                    const std::vector<std::string>& reserved = {}) {
  expect(node, YamlNode::Kind::Map, what);
  const YamlNode* kind = node.find("kind");
  if (kind == nullptr) fail(node.location, what + ": expected the key 'kind', the plugin's id");
  std::vector<std::string> left_out = reserved;
  left_out.emplace_back("kind");
  return {text_of(*kind, what + " kind"), kind->location, options_from(node, what, left_out), false};
}

std::vector<PluginUse> extensions_from(const YamlNode& node) {
  expect(node, YamlNode::Kind::Sequence, "with");
  std::vector<PluginUse> uses;
  for (const YamlNode& item : node.items) {
    PluginUse use = use_from(item, "with");
    if (use.id.ends_with('?')) {
      use.id.pop_back();
      use.optional = true;
    }
    uses.push_back(std::move(use));
  }
  return uses;
}

std::vector<PluginUse> modules_from(const YamlNode& node) {
  expect(node, YamlNode::Kind::Sequence, "modules");
  std::vector<PluginUse> uses;
  for (const YamlNode& item : node.items) {
    uses.push_back(use_from(item, "a module"));
    for (size_t i = 0; i + 1 < uses.size(); ++i) {
      if (uses[i].id == uses.back().id)
        fail(uses.back().location, fmt::format("module '{}' is there already", uses[i].id));
    }
  }
  return uses;
}

/// One entry of `modules+`: {use, options, before | after} or {remove}.
void change_modules(const YamlNode& node, std::vector<PluginUse>& modules) {
  expect(node, YamlNode::Kind::Map, "an entry of modules+");
  refuse_unknown_keys(node, {"use", "options", "before", "after", "remove"}, "an entry of modules+");
  const auto position = [&](const YamlNode& name) {
    const std::string& id = text_of(name, "a module's id");
    const auto found =
        std::find_if(modules.begin(), modules.end(), [&](const PluginUse& use) { return use.id == id; });
    if (found == modules.end()) {
      std::vector<std::string> known;
      for (const PluginUse& use : modules) known.push_back(use.id);
      fail(name.location, fmt::format("no module '{}' in this space", id), suggest(id, known));
    }
    return found;
  };
  if (const YamlNode* removed = node.find("remove")) {
    if (node.entries.size() != 1) fail(node.location, "'remove' stands alone");
    modules.erase(position(*removed));
    return;
  }
  const YamlNode* use = node.find("use");
  if (use == nullptr) fail(node.location, "an entry of modules+: expected the key 'use' or 'remove'");
  PluginUse added{text_of(*use, "use"), use->location, {}, false};
  if (const YamlNode* options = node.find("options")) added.options = options_from(*options, "options");
  const YamlNode* before = node.find("before");
  const YamlNode* after = node.find("after");
  if (before != nullptr && after != nullptr) fail(after->location, "either 'before' or 'after', not both");
  const auto same =
      std::find_if(modules.begin(), modules.end(), [&](const PluginUse& m) { return m.id == added.id; });
  if (same != modules.end()) fail(added.location, fmt::format("module '{}' is there already", added.id));
  auto place = modules.end();
  if (before != nullptr) place = position(*before);
  if (after != nullptr) place = position(*after) + 1;
  modules.insert(place, std::move(added));
}

SpaceSpec::Stage stage_from(const YamlNode& node) {
  SpaceSpec::Stage stage{use_from(node, "a member of the chain", {"trials"}), 0};
  if (node.kind != YamlNode::Kind::Map || node.entries.front().value.kind != YamlNode::Kind::Map)
    return stage;
  if (const YamlNode* trials = node.entries.front().value.find("trials")) {
    stage.trials = integer_of(*trials, "trials");
    if (stage.trials < 1) fail(trials->location, "trials: expected a positive integer");
  }
  return stage;
}

std::vector<SpaceSpec::Stage> search_from(const YamlNode& node) {
  expect(node, YamlNode::Kind::Map, "search");
  const YamlNode* chain = node.find("chain");
  if (chain == nullptr) return {{kind_from(node, "search"), 0}};
  refuse_unknown_keys(node, {"chain"}, "a chain");
  expect(*chain, YamlNode::Kind::Sequence, "chain");
  if (chain->items.empty()) fail(chain->location, "chain: expected at least one searcher");
  std::vector<SpaceSpec::Stage> stages;
  for (const YamlNode& item : chain->items) stages.push_back(stage_from(item));
  return stages;
}

/// The spaces that Tunesmith comes with, which every file may extend; nothing while that file itself is read.
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
  Resolver(const YamlNode& spaces, std::map<std::string, SpaceSpec>& done, std::string file)
      : spaces_(spaces), done_(done), file_(std::move(file)) {
    for (const YamlEntry& entry : spaces.entries) names_.push_back(entry.key);
  }

  const SpaceSpec& resolve(const YamlEntry& entry) {
    if (const auto found = done_.find(entry.key); found != done_.end()) return found->second;
    const YamlNode& node = entry.value;
    expect(node, YamlNode::Kind::Map, fmt::format("space '{}'", entry.key));
    refuse_unknown_keys(node,
                        {"extends", "requires", "target", "modules", "modules+", "search", "cost_model",
                         "task_scheduler", "max_sketches"},
                        "a space");
    SpaceSpec spec;
    if (const YamlNode* base = node.find("extends")) spec = resolve_base(entry, *base);
    spec.name = entry.key;
    spec.location = entry.location;
    if (const YamlNode* packs = node.find("requires")) add_packs(*packs, spec);
    if (const YamlNode* target = node.find("target")) read_target(*target, spec);
    if (const YamlNode* modules = node.find("modules")) spec.modules = modules_from(*modules);
    if (const YamlNode* changes = node.find("modules+")) {
      expect(*changes, YamlNode::Kind::Sequence, "modules+");
      for (const YamlNode& change : changes->items) change_modules(change, spec.modules);
    }
    if (const YamlNode* search = node.find("search")) spec.search = search_from(*search);
    if (const YamlNode* model = node.find("cost_model")) spec.cost_model = kind_from(*model, "cost_model");
    if (const YamlNode* scheduler = node.find("task_scheduler"))
      spec.task_scheduler = kind_from(*scheduler, "task_scheduler");
    if (const YamlNode* max = node.find("max_sketches")) {
      spec.max_sketches = integer_of(*max, "max_sketches");
      if (spec.max_sketches < 1) fail(max->location, "max_sketches: expected a positive integer");
    }
    require(spec.target.id.empty(), entry, "target: {kind: ...}");
    require(spec.search.empty(), entry, "search: {kind: ...}");
    require(spec.cost_model.id.empty(), entry, "cost_model: {kind: ...}");
    return done_.emplace(entry.key, std::move(spec)).first->second;
  }

 private:
  SpaceSpec resolve_base(const YamlEntry& entry, const YamlNode& base) {
    const std::string& name = text_of(base, "extends");
    if (!open_.insert(entry.key).second || name == entry.key) {
      fail(base.location, fmt::format("space '{}' extends itself", entry.key),
           "break the cycle of 'extends'");
    }
    const auto found = std::find_if(spaces_.entries.begin(), spaces_.entries.end(),
                                    [&](const YamlEntry& other) { return other.key == name; });
    if (found == spaces_.entries.end()) {
      open_.erase(entry.key);
      return resolve_builtin(base, name);
    }
    SpaceSpec spec = resolve(*found);
    open_.erase(entry.key);
    return spec;
  }

  SpaceSpec resolve_builtin(const YamlNode& base, const std::string& name) const {
    std::vector<std::string> known = names_;
    if (const std::optional<SpacesFile> builtin = builtin_spaces(file_)) {
      for (const std::string& other : builtin->names()) {
        if (other == name) return builtin->space(name);
        known.push_back(other);
      }
    }
    fail(base.location, fmt::format("no space '{}'", name), suggest(name, known));
  }

  static void add_packs(const YamlNode& node, SpaceSpec& spec) {
    expect(node, YamlNode::Kind::Sequence, "requires");
    for (const YamlNode& item : node.items) {
      const std::string& id = text_of(item, "requires: a pack's id");
      if (std::ranges::find(spec.packs, id, &PackUse::id) == spec.packs.end())
        spec.packs.push_back({id, item.location});
    }
  }

  /// A target with `kind` replaces the base's; without it, it changes the base's options and extensions.
  static void read_target(const YamlNode& node, SpaceSpec& spec) {
    expect(node, YamlNode::Kind::Map, "target");
    if (node.find("kind") != nullptr) {
      spec.target = kind_from(node, "target", {"with", "with+"});
      spec.extensions.clear();
    } else {
      if (spec.target.id.empty()) fail(node.location, "target: expected the key 'kind', the plugin's id");
      for (RawOption& option : options_from(node, "target", {"with", "with+"})) {
        std::erase_if(spec.target.options, [&](const RawOption& old) { return old.name == option.name; });
        spec.target.options.push_back(std::move(option));
      }
    }
    if (const YamlNode* with = node.find("with")) spec.extensions = extensions_from(*with);
    if (const YamlNode* more = node.find("with+")) {
      for (PluginUse& use : extensions_from(*more)) spec.extensions.push_back(std::move(use));
    }
    for (size_t i = 0; i < spec.extensions.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (spec.extensions[i].id == spec.extensions[j].id)
          fail(spec.extensions[i].location,
               fmt::format("extension '{}' is there already", spec.extensions[i].id));
      }
    }
  }

  static void require(bool missing, const YamlEntry& entry, const std::string& key) {
    if (missing) fail(entry.location, fmt::format("space '{}': expected the key {}", entry.key, key));
  }

  const YamlNode& spaces_;
  std::map<std::string, SpaceSpec>& done_;
  const std::string file_;
  std::vector<std::string> names_;
  std::set<std::string> open_;
};

}  // namespace

SpacesFile SpacesFile::load(const std::filesystem::path& path) {
  SpacesFile file;
  file.read(read_yaml_file(path.string()), path.string());
  return file;
}

SpacesFile SpacesFile::parse(const std::string& text, const std::string& file_name) {
  SpacesFile file;
  file.read(parse_yaml(text, file_name), file_name);
  return file;
}

void SpacesFile::read(const YamlNode& root, const std::string& file_name) {
  file_ = file_name;
  expect(root, YamlNode::Kind::Map, "a spaces file");
  refuse_unknown_keys(root, {"version", "default", "plugins", "spaces"}, "a spaces file");
  const YamlNode* version = root.find("version");
  if (version == nullptr) fail(root.location, "expected the key 'version: 1'");
  const int64_t number = integer_of(*version, "version");
  if (number != kVersion) {
    fail(version->location,
         fmt::format("version {} is not known to this Tunesmith, which reads version {}", number, kVersion),
         number > kVersion ? "use a newer Tunesmith" : "");
  }
  if (const YamlNode* plugins = root.find("plugins")) {
    expect(*plugins, YamlNode::Kind::Sequence, "plugins");
    const std::filesystem::path folder = std::filesystem::path(file_name).parent_path();
    for (const YamlNode& item : plugins->items) {
      plugin_paths_.push_back((folder / text_of(item, "a folder with plugins")).string());
    }
  }
  const YamlNode* spaces = root.find("spaces");
  if (spaces == nullptr) fail(root.location, "expected the key 'spaces'");
  expect(*spaces, YamlNode::Kind::Map, "spaces");
  if (spaces->entries.empty()) fail(spaces->location, "spaces: expected at least one space");
  Resolver resolver(*spaces, spaces_, file_name);
  for (const YamlEntry& entry : spaces->entries) resolver.resolve(entry);
  default_ = spaces->entries.front().key;
  if (const YamlNode* chosen = root.find("default")) {
    default_ = text_of(*chosen, "default");
    if (spaces_.count(default_) == 0)
      fail(chosen->location, fmt::format("no space '{}'", default_), suggest(default_, names()));
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
