#include "plugin/lock.h"

#include <fstream>
#include <system_error>

#include <fmt/format.h>

#include "plugin/json.h"
#include "plugin/manifest.h"
#include "plugin/trust.h"
#include "tunesmith/support/error.h"

namespace tunesmith {

namespace {

constexpr int kLockVersion = 1;
constexpr size_t kLargestLock = size_t{1} << 24;

std::string read_lock_file(const std::filesystem::path& file) {
  std::error_code error;
  const std::filesystem::path resolved = std::filesystem::canonical(file, error);
  if (error) throw UserError({file.string()}, "no such lock file", "create one with: tunesmith plugins lock");
  return TrustedFile(resolved).read(kLargestLock);
}

}  // namespace

PluginLock read_plugin_lock(const std::filesystem::path& file) {
  const nlohmann::json root = parse_json(read_lock_file(file), file);
  const JsonObject object(root, file, "", {"lock_version", "plugins"});
  if (object.integer("lock_version") != kLockVersion) {
    object.fail("lock_version",
                fmt::format("built for {}, this is {}", object.integer("lock_version"), kLockVersion));
  }
  PluginLock lock;
  const std::vector<nlohmann::json> plugins = object.list("plugins", true);
  for (size_t i = 0; i < plugins.size(); ++i) {
    const JsonObject plugin(plugins[i], file, fmt::format("plugins[{}]", i),
                            {"kind", "id", "version", "sha256", "libraries"});
    const auto kind = kind_from_name(plugin.text("kind"));
    if (!kind) plugin.fail("kind", fmt::format("unknown kind of plugin '{}'", plugin.text("kind")));
    const auto key = std::pair(*kind, plugin.text("id"));
    if (!lock.emplace(key, LockedPlugin{plugin.text("version"), plugin.text("sha256"),
                                        parse_libraries(plugin, file, fmt::format("plugins[{}].", i))})
             .second) {
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
    nlohmann::ordered_json entry{{"kind", kind_name(key.first)},
                                 {"id", key.second},
                                 {"version", plugin.version},
                                 {"sha256", plugin.sha256}};
    for (const auto& [library, hash] : plugin.libraries)
      entry["libraries"].push_back({{"library", library}, {"sha256", hash}});
    root["plugins"].push_back(entry);
  }
  std::filesystem::path partial = file;
  partial += ".partial";
  std::ofstream stream(partial);
  stream << root.dump(2) << '\n';
  stream.close();
  std::error_code error;
  using std::filesystem::perms;  // a file writable by a group would be refused
  std::filesystem::permissions(
      partial, perms::owner_read | perms::owner_write | perms::group_read | perms::others_read, error);
  if (stream && !error) std::filesystem::rename(partial, file, error);
  if (!stream || error) throw EnvironmentError(fmt::format("{} cannot be written", file.string()));
}

}  // namespace tunesmith
