#include "pack_folder.h"

#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <sys/stat.h>

#include <tunesmith/support/hash.h>
#include <tunesmith/target/target.h>

namespace tunesmith::test {

namespace fs = std::filesystem;

fs::path PackFolder::add(std::string_view built_library, std::string_view id) {
  const std::string file = fmt::format("{}.so", built_library);
  fs::copy_file(fs::path(TEST_LIBRARIES) / file, path_ / file);
  chmod((path_ / file).c_str(), 0755);
  add_file(file, id);
  return path_ / file;
}

void PackFolder::add_file(std::string_view library, std::string_view id, std::string_view needs) {
  const std::string hash =
      fs::exists(path_ / library) ? sha256_hex(read_file(path_ / library)) : std::string(64, '0');
  entries_.push_back(
      fmt::format(R"({{"id": "{}", "kind": "extension", "library": "{}", "sha256": "{}", "requires": [{}]}})",
                  id, library, hash, needs.empty() ? std::string{} : fmt::format("\"{}\"", needs)));
}

fs::path PackFolder::add_library(std::string_view file) {
  fs::copy_file(fs::path(TEST_LIBRARIES) / file, path_ / file);
  chmod((path_ / file).c_str(), 0755);
  return path_ / file;
}

void PackFolder::list_library(std::string_view file) {
  libraries_.push_back(
      fmt::format(R"({{"library": "{}", "sha256": "{}"}})", file, sha256_hex(read_file(path_ / file))));
}

void PackFolder::write_manifest(std::string_view file) const {
  write_file(path_ / file,
             fmt::format(R"({{"manifest_version": 1, "id": "test", "version": "1.2.3", "vendor": "Test",
 "licence": "MIT", "plugins": [{}], "libraries": [{}]}})",
                         fmt::join(entries_, ",\n  "), fmt::join(libraries_, ", ")));
}

PluginSearch PackFolder::search() const { return {.command_line = {{path_.path()}}, .defaults = false}; }

std::string PackFolder::creation(std::string_view id) const {
  PluginRegistry registry(search());
  return test::creation(registry, id);
}

std::string creation(PluginRegistry& registry, std::string_view id) {
  try {
    const auto& specs = registry.option_specs(PluginKind::Extension, id);
    const Options options = Options::defaults(specs, plugin_name(PluginKind::Extension, id));
    const auto extension = registry.create<TargetExtension>(id, options);
    DeviceModel device;
    extension->describe(device);
    return device.all().contains("scale") ? "accepted" : "created, but describe() did nothing";
  } catch (const Error& error) {
    return error.what();
  }
}

std::string read_file(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

void write_file(const fs::path& file, std::string_view content) {
  std::ofstream(file, std::ios::binary).write(content.data(), static_cast<std::streamsize>(content.size()));
  chmod(file.c_str(), 0644);
}

}  // namespace tunesmith::test
