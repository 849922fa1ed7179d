#include "tunesmith/plugin/registry.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "plugin/loader.h"
#include "plugin/lock.h"
#include "plugin/manifest.h"
#include "plugin/scripts.h"
#include "plugin/search_path.h"
#include "plugin/stable_plugin.h"
#include "plugin/trust.h"
#include "tunesmith/plugin/guard.h"

namespace tunesmith {

namespace {

namespace fs = std::filesystem;
using Outcome = PluginLogEntry::Outcome;
using Key = std::pair<PluginKind, std::string>;

constexpr size_t kLargestManifest = size_t{1} << 20;

}  // namespace

std::string_view outcome_name(Outcome outcome) {
  switch (outcome) {
    case Outcome::Searched:
      return "searched";
    case Outcome::Absent:
      return "absent";
    case Outcome::Ignored:
      return "ignored";
    case Outcome::Found:
      return "found";
    case Outcome::Loaded:
      return "loaded";
    case Outcome::Refused:
      return "refused";
  }
  throw InternalError("an outcome of the plugin search has no name");
}

struct PluginRegistry::State {
  mutable std::mutex mutex;
  std::map<Key, std::vector<PluginInfo>> found;  // more than one: refused
  std::map<Key, LoadedPlugin> loaded;
  std::vector<fs::path> manifests;  // read already, links resolved
  std::vector<PluginLogEntry> log;
  std::optional<PluginLock> lock;
  Scripts scripts;

  void search(const SearchPlace& place);
  void read_manifest_file(const SearchPlace& place, const fs::path& path);
  void settle_doubles();
  void refuse(const PluginInfo& info, std::string why);
  const PluginInfo& find(PluginKind kind, std::string_view id, const SourceLocation& asked_at) const;
  const LoadedPlugin& load(PluginKind kind, std::string_view id, const SourceLocation& asked_at);
  /// Call without holding the mutex. Null if `id` is not a script plugin.
  const LoadedScript* script(PluginKind kind, std::string_view id, const SourceLocation& asked_at = {});
  void check_needs(const PluginInfo& plugin) const;
  void refuse_where_locked(PluginKind kind, std::string_view id) const;
  std::string places_looked_at() const;
};

void PluginRegistry::State::search(const SearchPlace& place) {
  if (!place.ignored.empty()) {
    log.push_back({Outcome::Ignored, place.source, place.path, place.ignored});
    return;
  }
  std::error_code error;
  const fs::file_status status = fs::status(place.path, error);
  if (!fs::exists(status)) {
    if (place.asked_for) {
      throw UserError(place.location, fmt::format("{}: no such folder or manifest: {}",
                                                  source_name(place.source), place.path.string()));
    }
    log.push_back({Outcome::Absent, place.source, place.path, ""});
    return;
  }
  if (!fs::is_directory(status)) {
    if (is_manifest(place.path)) return read_manifest_file(place, place.path);
    log.push_back({Outcome::Refused, place.source, place.path,
                   fmt::format("neither a folder nor a manifest (*{})", kManifestSuffix)});
    return;
  }
  const std::vector<fs::path> manifests_here = manifests_in(place.path, error);
  if (error) {
    log.push_back({Outcome::Refused, place.source, place.path, error.message()});
    return;
  }
  log.push_back(
      {Outcome::Searched, place.source, place.path, fmt::format("manifests: {}", manifests_here.size())});
  for (const fs::path& path : manifests_here) read_manifest_file(place, path);
}

void PluginRegistry::State::read_manifest_file(const SearchPlace& place, const fs::path& path) {
  try {
    const fs::path resolved = fs::canonical(path);
    if (std::ranges::find(manifests, resolved) != manifests.end()) {
      log.push_back({Outcome::Ignored, place.source, path, "read already"});
      return;
    }
    const Manifest manifest = parse_manifest(TrustedFile(resolved).read(kLargestManifest), resolved);
    manifests.push_back(resolved);
    for (const ManifestPlugin& plugin : manifest.plugins) {
      PluginInfo info;
      info.kind = plugin.kind;
      info.id = plugin.id;
      info.pack = manifest.id;
      info.version = manifest.version;
      info.vendor = manifest.vendor;
      info.licence = manifest.licence;
      info.source = place.source;
      info.manifest = resolved;
      info.library = resolved.parent_path() / plugin.library;
      info.sha256 = plugin.sha256;
      info.libraries = manifest.libraries;
      for (const PluginReference& needed : plugin.needs) {
        info.needs.push_back(fmt::format("{}:{}", kind_name(needed.kind), needed.id));
      }
      log.push_back({Outcome::Found, info.source, info.library, plugin_name(info.kind, info.id)});
      found[{info.kind, info.id}].push_back(std::move(info));
    }
  } catch (const UserError& error) {
    log.push_back({Outcome::Refused, place.source, path, fmt::format("[P6] {}", error.what())});
  } catch (const EnvironmentError& error) {
    log.push_back({Outcome::Refused, place.source, path, error.what()});
  } catch (const fs::filesystem_error& error) {
    log.push_back({Outcome::Refused, place.source, path, fmt::format("[P6] {}", error.code().message())});
  }
}

/// Keeps the kernel's own plugin of several with one id; without it, refuses them all (rule P7).
void PluginRegistry::State::settle_doubles() {
  for (auto& [key, same] : found) {
    if (same.size() == 1) continue;
    const std::string name = plugin_name(key.first, key.second);
    const auto builtin = std::ranges::find(same, PluginSource::System, &PluginInfo::source);
    if (builtin == same.end()) {
      for (const PluginInfo& each : same) {
        const PluginInfo& other = &each == &same.front() ? same.back() : same.front();
        refuse(each, fmt::format("[P7] {} is also in {}; remedy: remove one", name, other.manifest.string()));
      }
      continue;
    }
    for (const PluginInfo& each : same) {
      if (&each == &*builtin) continue;
      refuse(each,
             fmt::format("[P7] {} is built in, from {}, and cannot be replaced; remedy: rename this one",
                         name, builtin->manifest.string()));
    }
    same = {PluginInfo(*builtin)};
  }
}

/// Marks a found plugin as refused.
void PluginRegistry::State::refuse(const PluginInfo& info, std::string why) {
  const auto entry = std::ranges::find_if(log, [&](const PluginLogEntry& each) {
    return each.outcome == Outcome::Found && each.path == info.library &&
           each.detail == plugin_name(info.kind, info.id);
  });
  if (entry == log.end()) return;
  entry->outcome = Outcome::Refused;
  entry->detail = std::move(why);
}

std::string PluginRegistry::State::places_looked_at() const {
  std::string text;
  for (const PluginLogEntry& entry : log) {
    if (entry.outcome == Outcome::Found || entry.outcome == Outcome::Loaded) continue;
    text += fmt::format("{}{} {} ({}{}{})", text.empty() ? "looked at: " : ", ", source_name(entry.source),
                        entry.path.string(), outcome_name(entry.outcome), entry.detail.empty() ? "" : ": ",
                        entry.detail);
  }
  return text.empty() ? "no folders to search" : text;
}

const PluginInfo& PluginRegistry::State::find(PluginKind kind, std::string_view id,
                                              const SourceLocation& asked_at) const {
  const auto entry = found.find({kind, std::string(id)});
  if (entry == found.end()) {
    std::vector<std::string> known;
    for (const auto& [key, plugins] : found) {
      if (key.first == kind) known.push_back(key.second);
    }
    std::string remedy = suggest(id, known);
    remedy += (remedy.empty() ? "" : "; ") + places_looked_at();
    std::string others;
    for (const PluginKind other : kPluginKinds) {
      if (found.contains({other, std::string(id)}))
        others += fmt::format("; {} {} has this name", other == PluginKind::Extension ? "an" : "a",
                              kind_name(other));
    }
    throw UserError(asked_at, fmt::format("unknown {}{}", plugin_name(kind, id), others), remedy);
  }
  if (entry->second.size() > 1) {
    std::string manifests_text;
    for (const PluginInfo& each : entry->second) {
      manifests_text += fmt::format("{}{} ({})", manifests_text.empty() ? "" : " and ",
                                    each.manifest.string(), source_name(each.source));
    }
    throw PluginError(kind, std::string(id),
                      fmt::format("[P7] it exists twice: {}; remedy: remove one", manifests_text));
  }
  return entry->second.front();
}

void PluginRegistry::State::check_needs(const PluginInfo& plugin) const {
  for (const std::string& needed : plugin.needs) {
    const size_t colon = needed.find(':');
    if (!found.contains({*kind_from_name(needed.substr(0, colon)), needed.substr(colon + 1)})) {
      throw PluginError(
          plugin.kind, plugin.id,
          fmt::format("[P14] it requires {}, which is not installed; {}; remedy: install its pack", needed,
                      places_looked_at()));
    }
  }
}

const LoadedPlugin& PluginRegistry::State::load(PluginKind kind, std::string_view id,
                                                const SourceLocation& asked_at) {
  const PluginInfo& info = find(kind, id, asked_at);
  const Key key{kind, std::string(id)};
  if (const auto known = loaded.find(key); known != loaded.end()) return known->second;
  try {
    check_needs(info);
    LoadedPlugin plugin = load_plugin(info, lock ? &*lock : nullptr);
    log.push_back({Outcome::Loaded, info.source, info.library, plugin_name(kind, id)});
    return loaded.emplace(key, std::move(plugin)).first->second;
  } catch (const EnvironmentError& error) {
    log.push_back({Outcome::Refused, info.source, info.library, error.what()});
    throw;
  }
}

void PluginRegistry::State::refuse_where_locked(PluginKind kind, std::string_view id) const {
  if (lock)
    throw PluginError(kind, std::string(id),
                      "[P15] a lock file cannot list files given by path; remedy: put it into a pack");
}

const LoadedScript* PluginRegistry::State::script(PluginKind kind, std::string_view id,
                                                  const SourceLocation& asked_at) {
  if (script_name(id)) refuse_where_locked(kind, id);
  return scripts.load(kind, id, asked_at);
}

PluginRegistry::PluginRegistry(PluginSearch search) : state_(std::make_unique<State>()) {
  if (search.lock_file) state_->lock = read_plugin_lock(*search.lock_file);
  for (const SearchPlace& place : search_places(search, PluginEnvironment::of_this_process())) {
    state_->search(place);
  }
  state_->settle_doubles();
}

PluginRegistry::~PluginRegistry() = default;

std::vector<PluginInfo> PluginRegistry::list() const {
  const std::lock_guard lock(state_->mutex);
  std::vector<PluginInfo> plugins;
  for (const auto& [key, same] : state_->found) {
    if (same.size() == 1) plugins.push_back(same.front());
  }
  return plugins;
}

std::vector<PluginInfo> PluginRegistry::list(PluginKind kind) const {
  std::vector<PluginInfo> plugins = list();
  std::erase_if(plugins, [kind](const PluginInfo& plugin) { return plugin.kind != kind; });
  return plugins;
}

bool PluginRegistry::has(PluginKind kind, std::string_view id) const {
  const std::lock_guard lock(state_->mutex);
  return state_->found.contains({kind, std::string(id)});
}

std::vector<std::string> PluginRegistry::packs() const {
  const std::lock_guard lock(state_->mutex);
  std::set<std::string> ids;
  for (const auto& [key, same] : state_->found) {
    for (const PluginInfo& plugin : same) ids.insert(plugin.pack);
  }
  return {ids.begin(), ids.end()};
}

std::string PluginRegistry::places_looked_at() const {
  const std::lock_guard lock(state_->mutex);
  return state_->places_looked_at();
}

const PluginInfo& PluginRegistry::info(PluginKind kind, std::string_view id,
                                       const SourceLocation& asked_at) const {
  const std::lock_guard lock(state_->mutex);
  return state_->find(kind, id, asked_at);
}

const std::vector<OptionSpec>& PluginRegistry::option_specs(PluginKind kind, std::string_view id,
                                                            const SourceLocation& asked_at) {
  if (const LoadedScript* script = state_->script(kind, id, asked_at)) return script->plugin.options;
  const std::lock_guard lock(state_->mutex);
  return state_->load(kind, id, asked_at).options;
}

std::string PluginRegistry::plugin_version(PluginKind kind, std::string_view id) {
  if (const LoadedScript* script = state_->script(kind, id)) return script->version;
  const std::lock_guard lock(state_->mutex);
  const std::string version = state_->load(kind, id, {}).version();
  return !version.empty() ? version : state_->find(kind, id, {}).version;
}

std::string PluginRegistry::help(PluginKind kind, std::string_view id) {
  if (const LoadedScript* script = state_->script(kind, id)) return script->plugin.help;
  const std::lock_guard lock(state_->mutex);
  return state_->load(kind, id, {}).help();
}

std::vector<std::string> PluginRegistry::help_lines() const {
  return help_lines_of(list(), state_->lock ? &*state_->lock : nullptr);
}

std::string PluginRegistry::probe(PluginKind kind, std::string_view id) const {
  const State& state = *state_;
  const PluginInfo* info = nullptr;
  try {
    // An extension named by its path is data, not part of a pack, and can always be loaded.
    if (id.ends_with(".yaml")) {
      state.refuse_where_locked(kind, id);
      return {};
    }
    const std::lock_guard lock(state.mutex);
    info = &state.find(kind, id, {});
    state.check_needs(*info);
  } catch (const Error& error) {
    return error.what();
  }
  return probe_plugin(*info, state.lock ? &*state.lock : nullptr);
}

std::shared_ptr<void> PluginRegistry::create_object(PluginKind kind, std::string_view id,
                                                    const Options& options, const SourceLocation& asked_at) {
  if (const LoadedScript* script = state_->script(kind, id, asked_at))
    return guard_plugin(kind, id, "create", [&] { return script->plugin.create(options); });
  const LoadedPlugin* plugin = nullptr;  // the address of a loaded plugin is stable
  {
    const std::lock_guard lock(state_->mutex);
    plugin = &state_->load(kind, id, asked_at);
  }
  const PluginDescriptor* descriptor = plugin->descriptor;
  if (plugin->stable != nullptr) {
    std::shared_ptr<void> made = guard_plugin(
        kind, id, "create", [&] { return make_stable_object(*plugin->stable, plugin->options, options); });
    void* const object = made.get();
    return {object, [kind, id = std::string(id), made = std::move(made)](void*) mutable {
              const PluginWatch watch(kind, id, "destroy");
              made.reset();
            }};
  }
  if (descriptor == nullptr) return plugin->file.object;
  void* object = guard_plugin(kind, id, "create", [&] { return descriptor->create(options); });
  if (object == nullptr) throw PluginError(kind, std::string(id), "[P5] create() returned null");
  return {object, [kind, id = std::string(id), destroy = descriptor->destroy](void* own) {
            const PluginWatch watch(kind, id, "destroy");
            destroy(own);
          }};
}

std::vector<PluginLogEntry> PluginRegistry::log() const {
  const std::lock_guard lock(state_->mutex);
  return state_->log;
}

void PluginRegistry::write_lock(const fs::path& file) const {
  PluginLock locked;
  for (const PluginInfo& plugin : list()) {
    const std::string hash = hash_plugin(plugin);
    if (hash != plugin.sha256) {
      throw PluginError(
          plugin.kind, plugin.id,
          fmt::format("[P9] the SHA-256 of {} is {}, but {} says {}; remedy: reinstall the pack",
                      plugin.library.string(), hash, plugin.manifest.string(), plugin.sha256));
    }
    locked[{plugin.kind, plugin.id}] = {plugin.version, hash, plugin.libraries};
  }
  write_plugin_lock(locked, file);
}

}  // namespace tunesmith
