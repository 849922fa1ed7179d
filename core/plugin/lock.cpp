#include "plugin/lock.h"

#include <fstream>
#include <sstream>
#include <system_error>

#include <fmt/format.h>

#include "plugin/json.h"
#include "tunesmith/support/error.h"

namespace tunesmith {

namespace {
constexpr int kLockVersion = 1;
}

PluginLock read_plugin_lock(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::ostringstream text;
  if (!(text << stream.rdbuf())) {
    throw UserError({file.string()}, "no such lock file", "write one with: tunesmith plugins lock");
  }
  const nlohmann::json root = parse_json(text.str(), file);
  const JsonObject object(root, file, "", {"lock_version", "plugins"});
  if (object.integer("lock_version") != kLockVersion) {
    object.fail("lock_version",
                fmt::format("built for {}, this is {}", object.integer("lock_version"), kLockVersion));
  }
  PluginLock lock;
  const std::vector<nlohmann::json> plugins = object.list("plugins", true);
  for (size_t i = 0; i < plugins.size(); ++i) {
    const JsonObject plugin(plugins[i], file, fmt::format("plugins[{}]", i),
                            {"kind", "id", "version", "sha256"});
    const auto kind = kind_from_name(plugin.text("kind"));
    if (!kind) plugin.fail("kind", fmt::format("no kind of plugin is called '{}'", plugin.text("kind")));
    const auto key = std::pair(*kind, plugin.text("id"));
    if (!lock.emplace(key, LockedPlugin{plugin.text("version"), plugin.text("sha256")}).second) {
      plugin.fail("id", "is locked twice");
    }
  }
  return lock;
}

void write_plugin_lock(const PluginLock& lock, const std::filesystem::path& file) {
  nlohmann::ordered_json root;
  root["lock_version"] = kLockVersion;
  root["plugins"] = nlohmann::ordered_json::array();
  for (const auto& [key, plugin] : lock) {
    root["plugins"].push_back({{"kind", kind_name(key.first)},
                               {"id", key.second},
                               {"version", plugin.version},
                               {"sha256", plugin.sha256}});
  }
  std::filesystem::path partial = file;
  partial += ".partial";
  std::ofstream stream(partial);
  stream << root.dump(2) << '\n';
  stream.close();
  std::error_code error;
  if (stream) std::filesystem::rename(partial, file, error);
  if (!stream || error) throw EnvironmentError(fmt::format("{} cannot be written", file.string()));
}

}  // namespace tunesmith
