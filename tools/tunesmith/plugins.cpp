#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "exit_codes.h"

namespace tunesmith::cli {
namespace {

/// Plugins are listed also where there is no spaces file.
PluginSearch search_of(const Common& common) {
  if (common.spaces_file.empty()) return plugin_search(common, nullptr);
  const SpacesFile spaces = SpacesFile::load(common.spaces_file);
  return plugin_search(common, &spaces);
}

void print_options(PluginRegistry& registry, const PluginInfo& info) {
  for (const OptionSpec& option : registry.option_specs(info.kind, info.id)) {
    fmt::print("    {}: {} (default {})\n        {}\n", option.name, option.expected(),
               option_text(option.default_value), option.help);
  }
}

}  // namespace

int run_plugins_list(const Common& common, const PluginsArguments& arguments) {
  PluginRegistry registry(search_of(common));
  nlohmann::json list = nlohmann::json::array();
  for (const PluginInfo& info : registry.list()) {
    if (common.json) {
      list.push_back({{"kind", kind_name(info.kind)},
                      {"id", info.id},
                      {"pack", info.pack},
                      {"version", info.version},
                      {"vendor", info.vendor},
                      {"library", info.library.string()},
                      {"source", info.source}});
      continue;
    }
    fmt::print("{:<10} {:<34} {} {}, {}\n", kind_name(info.kind), info.id, info.pack, info.version,
               info.source);
    if (arguments.options) {
      fmt::print("    {}\n", registry.help(info.kind, info.id));
      print_options(registry, info);
    }
  }
  if (common.json) fmt::print("{}\n", nlohmann::json{{"plugins", list}}.dump());
  if (arguments.why) {
    for (const PluginLogEntry& entry : registry.log()) {
      fmt::print("{:<9} {} ({}){}{}\n", outcome_name(entry.outcome), entry.path.string(), entry.source,
                 entry.detail.empty() ? "" : ": ", entry.detail);
    }
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
      fmt::print("{:<10} {:<34} {}\n", kind_name(info.kind), info.id, fault.empty() ? "loads" : fault);
  }
  if (common.json) fmt::print("{}\n", nlohmann::json{{"plugins", list}}.dump());
  return all ? kDone : kEnvironmentFault;
}

int run_plugins_lock(const Common& common, const PluginsArguments& arguments) {
  const PluginRegistry registry(search_of(common));
  registry.write_lock(arguments.lock_file);
  if (!common.json) fmt::print("wrote {}\n", arguments.lock_file);
  return kDone;
}

}  // namespace tunesmith::cli
