#include "space/read_space.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "tunesmith/plugin/script_plugin.h"

namespace tunesmith {
namespace {

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

/// Reads a plugin's options from a mapping (or nothing), except the keys in `reserved`.
std::vector<RawOption> options_from(const YamlNode& node, const std::string& what,
                                    const std::vector<std::string>& reserved = {}) {
  std::vector<RawOption> options;
  if (node.kind == YamlNode::Kind::Null) return options;
  expect_kind(node, YamlNode::Kind::Map, what);
  for (const YamlEntry& entry : node.entries) {
    if (std::find(reserved.begin(), reserved.end(), entry.key) == reserved.end())
      options.push_back(option_from(entry));
  }
  return options;
}

/// Reads `python: FILE.py:CLASS` of the mapping `node`, which replaces an id; without an id if there is none.
PluginUse script_from(const YamlNode& node, const std::string& what) {
  const YamlNode* python = node.find("python");
  if (python == nullptr) return {};
  const std::string& id = text_of(*python, what + " python");
  if (!script_name(id)) {
    throw UserError(python->location, fmt::format("{} python: expected FILE.py:CLASS, found '{}'", what, id));
  }
  return {id, python->location, {}, false};
}

/// `- id`, `- id: {options}`, or `- {python: FILE.py:CLASS, options: {options}}`, with the keys in `reserved`
/// beside the options.
PluginUse use_from(const YamlNode& node, const std::string& what,
                   const std::vector<std::string>& reserved = {}) {
  if (node.kind == YamlNode::Kind::Scalar) return {node.text, node.location, {}, false};
  expect_kind(node, YamlNode::Kind::Map, what);
  if (PluginUse script = script_from(node, what); !script.id.empty()) {
    std::vector<std::string> known = {"python", "options"};
    known.insert(known.end(), reserved.begin(), reserved.end());
    refuse_unknown_keys(node, known, what + " in Python");
    if (const YamlNode* options = node.find("options")) script.options = options_from(*options, "options");
    return script;
  }
  if (node.entries.size() != 1) {
    throw UserError(node.location, fmt::format("{}: expected one plugin, as 'id: {{options}}', found {} keys",
                                               what, node.entries.size()));
  }
  const YamlEntry& entry = node.entries.front();
  return {entry.key, entry.location, options_from(entry.value, "options of '" + entry.key + "'", reserved),
          false};
}

/// `{kind: id, options...}`, or `{python: FILE.py:CLASS, options...}`.
PluginUse kind_from(const YamlNode& node, const std::string& what,
                    const std::vector<std::string>& reserved = {}) {
  expect_kind(node, YamlNode::Kind::Map, what);
  const YamlNode* kind = node.find("kind");
  if (PluginUse script = script_from(node, what); !script.id.empty()) {
    if (kind != nullptr)
      throw UserError(kind->location, what + ": expected either 'kind' or 'python', found both");
    script.options = options_from(node, what, {"python"});
    return script;
  }
  if (kind == nullptr) throw UserError(node.location, what + ": expected the key 'kind', the plugin's id");
  std::vector<std::string> left_out = reserved;
  left_out.emplace_back("kind");
  return {text_of(*kind, what + " kind"), kind->location, options_from(node, what, left_out), false};
}

/// Adds each element of the list `node`; a duplicate or a wrong type is an error.
void add_uses(const YamlNode& node, const std::string& key, const std::string& what,
              std::vector<PluginUse>& uses, Faults& faults) {
  expect_kind(node, YamlNode::Kind::Sequence, key);
  for (const YamlNode& item : node.items) {
    faults.attempt([&] {
      PluginUse use = use_from(item, key == "modules" ? "a module" : key);
      if (key != "modules" && use.id.ends_with('?')) {
        use.id.pop_back();
        use.optional = true;
      }
      if (std::ranges::find(uses, use.id, &PluginUse::id) != uses.end())
        throw UserError(use.location, fmt::format("duplicate {} '{}'", what, use.id));
      uses.push_back(std::move(use));
    });
  }
}

/// One entry of `modules+`: {use, options, before | after} or {remove}.
void change_modules(const YamlNode& node, SpaceSpec& spec, Faults& faults) {
  std::vector<PluginUse>& modules = spec.modules;
  expect_kind(node, YamlNode::Kind::Map, "an entry of modules+");
  faults.unknown_keys(node, {"use", "python", "options", "before", "after", "remove"},
                      "an entry of modules+");
  const auto position = [&](const YamlNode& name) {
    const std::string& id = text_of(name, "a module's id");
    const auto found = std::ranges::find(modules, id, &PluginUse::id);
    if (found == modules.end()) {
      std::vector<std::string> known;
      for (const PluginUse& use : modules) known.push_back(use.id);
      throw UserError(name.location, fmt::format("no module '{}' in this space", id), suggest(id, known));
    }
    return found;
  };
  if (const YamlNode* removed = node.find("remove")) {
    if (node.entries.size() != 1) throw UserError(node.location, "'remove' cannot have other keys");
    const auto found = position(*removed);
    spec.removed.push_back(found->id);
    modules.erase(found);
    return;
  }
  const YamlNode* use = node.find("use");
  PluginUse added = script_from(node, "a module");
  if (use != nullptr && !added.id.empty())
    throw UserError(use->location, "expected either 'use' or 'python', found both");
  if (use != nullptr) added = {text_of(*use, "use"), use->location, {}, false};
  if (added.id.empty())
    throw UserError(node.location, "an entry of modules+: expected the key 'use', 'python' or 'remove'");
  if (const YamlNode* options = node.find("options")) added.options = options_from(*options, "options");
  const YamlNode* before = node.find("before");
  const YamlNode* after = node.find("after");
  if (before != nullptr && after != nullptr)
    throw UserError(after->location, "expected either 'before' or 'after', found both");
  if (std::ranges::find(modules, added.id, &PluginUse::id) != modules.end())
    throw UserError(added.location, fmt::format("duplicate module '{}'", added.id));
  auto place = modules.end();
  if (before != nullptr) place = position(*before);
  if (after != nullptr) place = position(*after) + 1;
  std::erase(spec.removed, added.id);
  modules.insert(place, std::move(added));
}

SpaceSpec::Stage stage_from(const YamlNode& node) {
  SpaceSpec::Stage stage{use_from(node, "a member of the chain", {"trials"}), 0};
  if (node.kind != YamlNode::Kind::Map) return stage;
  const YamlNode& written = script_name(stage.searcher.id) ? node : node.entries.front().value;
  if (written.kind != YamlNode::Kind::Map) return stage;
  if (const YamlNode* trials = written.find("trials")) {
    stage.trials = integer_of(*trials, "trials");
    if (stage.trials < 1) throw UserError(trials->location, "trials: expected a positive integer");
  }
  return stage;
}

std::vector<SpaceSpec::Stage> search_from(const YamlNode& node, Faults& faults) {
  expect_kind(node, YamlNode::Kind::Map, "search");
  const YamlNode* chain = node.find("chain");
  if (chain == nullptr) return {{kind_from(node, "search"), 0}};
  faults.unknown_keys(node, {"chain"}, "a chain");
  expect_kind(*chain, YamlNode::Kind::Sequence, "chain");
  if (chain->items.empty()) throw UserError(chain->location, "chain: expected at least one searcher");
  std::vector<SpaceSpec::Stage> stages;
  for (const YamlNode& item : chain->items) faults.attempt([&] { stages.push_back(stage_from(item)); });
  return stages;
}

/// A target with `kind` replaces the base's; without it, it changes the base's options and extensions.
void read_target(const YamlNode& node, SpaceSpec& spec, Faults& faults) {
  expect_kind(node, YamlNode::Kind::Map, "target");
  if (node.find("kind") != nullptr) {
    spec.target = kind_from(node, "target", {"with", "with+"});
    spec.extensions.clear();
  } else {
    if (spec.target.id.empty())
      throw UserError(node.location, "target: expected the key 'kind', the plugin's id");
    for (RawOption& option : options_from(node, "target", {"with", "with+"})) {
      std::erase_if(spec.target.options, [&](const RawOption& old) { return old.name == option.name; });
      spec.target.options.push_back(std::move(option));
    }
  }
  if (const YamlNode* with = node.find("with")) {
    spec.extensions.clear();
    add_uses(*with, "with", "extension", spec.extensions, faults);
  }
  if (const YamlNode* more = node.find("with+"))
    add_uses(*more, "with", "extension", spec.extensions, faults);
}

std::string description_of(const YamlNode& node) {
  const std::string& text = text_of(node, "description");
  if (text.find('\n') != std::string::npos) throw UserError(node.location, "description: expected one line");
  return text;
}

void add_packs(const YamlNode& node, SpaceSpec& spec) {
  expect_kind(node, YamlNode::Kind::Sequence, "requires");
  for (const YamlNode& item : node.items) {
    const std::string& id = text_of(item, "requires: a pack's id");
    if (std::ranges::find(spec.packs, id, &PackUse::id) == spec.packs.end())
      spec.packs.push_back({id, item.location});
  }
}

}  // namespace

void Faults::unknown_keys(const YamlNode& node, const std::vector<std::string>& known,
                          std::string_view what) {
  for (const YamlEntry& entry : node.entries) attempt([&] { refuse_unknown_key(entry, known, what); });
}

void expect_kind(const YamlNode& node, YamlNode::Kind kind, const std::string& what) {
  if (node.kind == kind) return;
  throw UserError(node.location, fmt::format("{}: expected {}, found {}", what, yaml_kind_name(kind),
                                             yaml_kind_name(node.kind)));
}

const std::string& text_of(const YamlNode& node, const std::string& what) {
  expect_kind(node, YamlNode::Kind::Scalar, what);
  return node.text;
}

int64_t integer_of(const YamlNode& node, const std::string& what) {
  const std::string& text = text_of(node, what);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw UserError(node.location, fmt::format("{}: expected an integer, found '{}'", what, text));
  return value;
}

void refuse_unknown_space_keys(const YamlNode& node, Faults& faults) {
  faults.unknown_keys(node,
                      {"extends", "description", "requires", "target", "modules", "modules+", "search",
                       "cost_model", "task_scheduler", "runner", "max_sketches"},
                      "a space");
}

void read_space(const YamlEntry& entry, SpaceSpec& spec, Faults& faults) {
  const YamlNode& node = entry.value;
  const size_t before = faults.count();
  const auto read = [&](const char* key, const auto& step) {
    if (const YamlNode* value = node.find(key)) faults.attempt([&] { step(*value); });
  };
  read("description", [&](const YamlNode& text) { spec.description = description_of(text); });
  read("requires", [&](const YamlNode& packs) { add_packs(packs, spec); });
  read("target", [&](const YamlNode& target) { read_target(target, spec, faults); });
  read("modules", [&](const YamlNode& modules) {
    spec.modules.clear();
    spec.removed.clear();
    add_uses(modules, "modules", "module", spec.modules, faults);
  });
  read("modules+", [&](const YamlNode& changes) {
    expect_kind(changes, YamlNode::Kind::Sequence, "modules+");
    for (const YamlNode& change : changes.items)
      faults.attempt([&] { change_modules(change, spec, faults); });
  });
  read("search", [&](const YamlNode& search) { spec.search = search_from(search, faults); });
  read("cost_model", [&](const YamlNode& model) { spec.cost_model = kind_from(model, "cost_model"); });
  read("task_scheduler",
       [&](const YamlNode& scheduler) { spec.task_scheduler = kind_from(scheduler, "task_scheduler"); });
  read("runner", [&](const YamlNode& runner) { spec.runner = kind_from(runner, "runner"); });
  read("max_sketches", [&](const YamlNode& max) {
    spec.max_sketches = integer_of(max, "max_sketches");
    if (spec.max_sketches < 1) throw UserError(max.location, "max_sketches: expected a positive integer");
  });
  if (faults.count() > before) return;  // missing values may have caused the error
  const auto require = [&](bool missing, const char* key) {
    if (missing)
      throw UserError(entry.location, fmt::format("space '{}': expected the key {}", entry.key, key));
  };
  faults.attempt([&] { require(spec.target.id.empty(), "target: {kind: ...}"); });
  faults.attempt([&] { require(spec.search.empty(), "search: {kind: ...}"); });
  faults.attempt([&] { require(spec.cost_model.id.empty(), "cost_model: {kind: ...}"); });
}

}  // namespace tunesmith
