#include "plugin/manifest.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "plugin/json.h"
#include "tunesmith/support/error.h"

namespace tunesmith {

namespace {

std::vector<std::string> kind_names() {
  std::vector<std::string> names;
  names.reserve(kPluginKinds.size());
  for (const PluginKind kind : kPluginKinds) names.emplace_back(kind_name(kind));
  return names;
}

bool is_id(std::string_view text) {
  return !text.empty() && text.size() < 64 &&
         std::ranges::all_of(
             text, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
}

bool is_sha256(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

PluginKind parse_kind(const JsonObject& object, const char* key, const std::string& name) {
  const std::optional<PluginKind> kind = kind_from_name(name);
  if (!kind) {
    object.fail(key, fmt::format("unknown kind of plugin '{}'; {}", name, suggest(name, kind_names())));
  }
  return *kind;
}

std::string parse_id(const JsonObject& object, const char* key, std::string id) {
  if (!is_id(id)) object.fail(key, fmt::format("expected an id of a-z, 0-9 and _, got '{}'", id));
  return id;
}

PluginReference parse_reference(const JsonObject& object, const nlohmann::json& value) {
  const std::string text = value.is_string() ? value.get<std::string>() : std::string{};
  const size_t colon = text.find(':');
  if (colon == std::string::npos) object.fail("requires", "expected strings like \"extension:acme_npu\"");
  return {parse_kind(object, "requires", text.substr(0, colon)),
          parse_id(object, "requires", text.substr(colon + 1))};
}

std::string parse_library(const JsonObject& object) {
  std::string library = object.text("library");
  if (std::filesystem::path(library).is_absolute()) {
    object.fail("library", "expected a path relative to the manifest, got " + library);
  }
  return library;
}

std::string parse_sha256(const JsonObject& object) {
  std::string hash = object.text("sha256");
  if (!is_sha256(hash)) object.fail("sha256", "expected 64 lower-case hexadecimal digits");
  return hash;
}

ManifestPlugin parse_plugin(const JsonObject& object) {
  ManifestPlugin plugin;
  plugin.kind = parse_kind(object, "kind", object.text("kind"));
  plugin.id = parse_id(object, "id", object.text("id"));
  plugin.library = parse_library(object);
  plugin.sha256 = parse_sha256(object);
  for (const nlohmann::json& needed : object.list("requires", false)) {
    plugin.needs.push_back(parse_reference(object, needed));
  }
  return plugin;
}

}  // namespace

std::map<std::string, std::string> parse_libraries(const JsonObject& object,
                                                   const std::filesystem::path& file,
                                                   const std::string& place) {
  std::map<std::string, std::string> libraries;
  const std::vector<nlohmann::json> entries = object.list("libraries", false);
  for (size_t i = 0; i < entries.size(); ++i) {
    const JsonObject entry(entries[i], file, fmt::format("{}libraries[{}]", place, i), {"library", "sha256"});
    if (!libraries.emplace(parse_library(entry), parse_sha256(entry)).second) {
      entry.fail("library", "is listed twice");
    }
  }
  return libraries;
}

Manifest parse_manifest(std::string_view text, const std::filesystem::path& file) {
  const nlohmann::json root = parse_json(text, file);
  // The version is looked at first: a newer manifest may have keys that this kernel does not know.
  if (root.is_object() && root.contains("manifest_version") &&
      root["manifest_version"] != Manifest::kVersion) {
    throw UserError({file.string()}, fmt::format("manifest_version: built for {}, this is {}",
                                                 root["manifest_version"].dump(), int{Manifest::kVersion}));
  }
  const JsonObject object(root, file, "",
                          {"manifest_version", "id", "version", "vendor", "licence", "plugins", "libraries"});
  object.integer("manifest_version");
  Manifest manifest;
  manifest.id = parse_id(object, "id", object.text("id"));
  manifest.version = object.text("version");
  manifest.vendor = object.text("vendor");
  manifest.licence = object.text("licence");
  manifest.libraries = parse_libraries(object, file, "");
  const std::vector<nlohmann::json> plugins = object.list("plugins", true);
  for (size_t i = 0; i < plugins.size(); ++i) {
    manifest.plugins.push_back(parse_plugin(
        {plugins[i], file, fmt::format("plugins[{}]", i), {"id", "kind", "library", "requires", "sha256"}}));
  }
  return manifest;
}

}  // namespace tunesmith
