#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "common/exit_codes.h"
#include "common/print_json.h"
#include "output.h"

namespace tunesmith::cli {
namespace {

/// Plugins are listed even without a spaces file.
PluginSearch search_of(const Common& common) {
  if (common.spaces_file.empty()) return plugin_search(common, nullptr);
  const SpacesFile spaces = SpacesFile::load(common.spaces_file);
  return plugin_search(common, &spaces);
}

/// Prints the plugin's description and options, or why it is refused, without affecting others.
void describe(PluginRegistry& registry, const PluginInfo& info, nlohmann::json* json) {
  try {
    const std::vector<OptionSpec>& options = registry.option_specs(info.kind, info.id);
    const std::string help = registry.help(info.kind, info.id);
    if (json == nullptr) fmt::print(output(), "    {}\n", help);
    nlohmann::json list = nlohmann::json::array();
    for (const OptionSpec& option : options) {
      list.push_back({{"name", option.name},
                      {"expected", option.expected()},
                      {"default", option_text(option.default_value)},
                      {"help", option.help}});
      if (json == nullptr) {
        fmt::print(output(), "    {}: {} (default {})\n        {}\n", option.name, option.expected(),
                   option_text(option.default_value), option.help);
      }
    }
    if (json != nullptr) {
      (*json)["help"] = help;
      (*json)["options"] = list;
    }
  } catch (const EnvironmentError& error) {
    if (json == nullptr) fmt::print(output(), "    {}\n", error.what());
    if (json != nullptr) (*json)["refused"] = error.what();
  }
}

/// The log of the search for plugins; each plugin is tried in a process of its own.
std::vector<PluginLogEntry> account(const PluginRegistry& registry) {
  using Outcome = PluginLogEntry::Outcome;
  std::vector<PluginLogEntry> log = registry.log();
  const std::vector<PluginInfo> plugins = registry.list();
  for (PluginLogEntry& entry : log) {
    if (entry.outcome != Outcome::Found) continue;
    const auto info = std::ranges::find_if(plugins, [&](const PluginInfo& plugin) {
      return plugin.library == entry.path && plugin_name(plugin.kind, plugin.id) == entry.detail;
    });
    const std::string fault = registry.probe(info->kind, info->id);
    entry.outcome = fault.empty() ? Outcome::Loaded : Outcome::Refused;
    if (!fault.empty()) entry.detail = fault;
  }
  return log;
}

}  // namespace

int run_plugins_list(const Common& common, const PluginsArguments& arguments) {
  PluginRegistry registry(search_of(common));
  const std::vector<PluginLogEntry> log = arguments.why ? account(registry) : std::vector<PluginLogEntry>{};
  const auto refused = [&](const PluginInfo& info) {
    return std::ranges::any_of(log, [&](const PluginLogEntry& entry) {
      return entry.outcome == PluginLogEntry::Outcome::Refused && entry.path == info.library;
    });
  };
  const std::vector<PluginInfo> plugins = registry.list();
  const std::vector<std::string> helps = registry.help_lines();
  nlohmann::json list = nlohmann::json::array();
  for (size_t i = 0; i < plugins.size(); ++i) {
    const PluginInfo& info = plugins[i];
    nlohmann::json plugin = {{"kind", kind_name(info.kind)},
                             {"id", info.id},
                             {"pack", info.pack},
                             {"version", info.version},
                             {"vendor", info.vendor},
                             {"library", info.library.string()},
                             {"source", source_name(info.source)},
                             {"help", helps[i]}};
    if (!common.json) {
      fmt::print(output(), "{:<14} {:<34} {} {}, {}\n", kind_name(info.kind), info.id, info.pack,
                 info.version, source_name(info.source));
      if (!arguments.options)
        fmt::print(output(), "    {}\n",
                   helps[i].empty() ? "refused; 'plugins list --why' shows the reason" : helps[i]);
    }
    if (arguments.options && !refused(info)) describe(registry, info, common.json ? &plugin : nullptr);
    list.push_back(std::move(plugin));
  }
  nlohmann::json left_out = nlohmann::json::array();
  for (const PluginLogEntry& entry : registry.log()) {
    if (entry.outcome != PluginLogEntry::Outcome::Refused) continue;
    left_out.push_back({{"path", entry.path.string()}, {"reason", entry.detail}});
    if (!common.json && !arguments.why)
      fmt::print(output(), "refused    {}: {}\n", entry.path.string(), entry.detail);
  }
  nlohmann::json entries = nlohmann::json::array();
  for (const PluginLogEntry& entry : log) {
    const std::string outcome(entry.outcome == PluginLogEntry::Outcome::Loaded ? "accepted"
                                                                               : outcome_name(entry.outcome));
    entries.push_back({{"outcome", outcome},
                       {"source", source_name(entry.source)},
                       {"path", entry.path.string()},
                       {"detail", entry.detail}});
    if (!common.json) {
      fmt::print(output(), "{:<9} {} ({}){}{}\n", outcome, entry.path.string(), source_name(entry.source),
                 entry.detail.empty() ? "" : ": ", entry.detail);
    }
  }
  if (common.json) {
    nlohmann::json object = {{"plugins", list}, {"refused", left_out}};
    if (arguments.why) object["looked_at"] = entries;
    print_json(object);
  }
  return kDone;
}

int run_plugins_probe(const Common& common) {
  const PluginRegistry registry(search_of(common));
  bool all = true;
  nlohmann::json list = nlohmann::json::array();
  for (const PluginInfo& info : registry.list()) {
    const std::string fault = registry.probe(info.kind, info.id);
    all = all && fault.empty();
    list.push_back({{"kind", kind_name(info.kind)}, {"id", info.id}, {"fault", fault}});
    if (!common.json)
      fmt::print(output(), "{:<14} {:<34} {}\n", kind_name(info.kind), info.id,
                 fault.empty() ? "loads" : fault);
  }
  if (common.json) print_json({{"plugins", list}});
  return all ? kDone : kEnvironmentFault;
}

int run_plugins_lock(const Common& common, const PluginsArguments& arguments) {
  const PluginRegistry registry(search_of(common));
  registry.write_lock(arguments.lock_file);
  if (!common.json) fmt::print(output(), "wrote {}\n", arguments.lock_file);
  return kDone;
}

}  // namespace tunesmith::cli
