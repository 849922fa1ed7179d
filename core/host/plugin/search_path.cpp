#include "plugin/search_path.h"

#include <algorithm>
#include <cstdlib>

#include <sys/auxv.h>

#include "tunesmith/support/installation.h"

namespace tunesmith {

namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string{} : std::string(value);
}

}  // namespace

PluginEnvironment PluginEnvironment::of_this_process() {
  return {variable("TUNESMITH_PLUGIN_PATH"), variable("XDG_DATA_HOME"), variable("HOME"),
          getauxval(AT_SECURE) != 0, library_folder()};
}

bool is_manifest(const std::filesystem::path& path) {
  return path.filename().string().ends_with(kManifestSuffix);
}

std::vector<std::filesystem::path> manifests_in(const std::filesystem::path& folder, std::error_code& error) {
  namespace fs = std::filesystem;
  std::vector<fs::path> manifests;
  const auto scan = [&](const fs::path& where, auto&& on_folder) {
    for (fs::directory_iterator entry(where, error); !error && entry != fs::directory_iterator{};
         entry.increment(error)) {
      std::error_code unreadable;
      if (is_manifest(entry->path()))
        manifests.push_back(entry->path());
      else if (entry->is_directory(unreadable))
        on_folder(entry->path());
    }
  };
  std::vector<fs::path> subfolders;
  scan(folder, [&](const fs::path& subfolder) { subfolders.push_back(subfolder); });
  std::ranges::sort(subfolders);
  std::ranges::sort(manifests);
  for (const fs::path& subfolder : subfolders) {
    const auto begin = static_cast<std::ptrdiff_t>(manifests.size());
    scan(subfolder, [](const fs::path&) {});
    std::sort(manifests.begin() + begin, manifests.end());
  }
  return manifests;
}

std::string_view source_name(PluginSource source) {
  constexpr std::string_view kNames[] = {"--plugin-path", "plugins: in the spaces file",
                                         "TUNESMITH_PLUGIN_PATH", "the user's folder", "the system's folder"};
  return kNames[static_cast<size_t>(source)];
}

std::vector<SearchPlace> search_places(const PluginSearch& search, const PluginEnvironment& environment) {
  std::vector<SearchPlace> places;
  const auto add_named = [&](PluginSource source, const std::vector<PluginPlace>& named) {
    for (const PluginPlace& place : named) {
      places.push_back({source, place.path, {}, true, place.location});
    }
  };
  add_named(PluginSource::CommandLine, search.command_line);
  add_named(PluginSource::SpacesFile, search.spaces);
  if (!search.defaults) return places;

  const std::string ignored = environment.set_id ? "the process is setuid or setgid" : "";
  for (size_t begin = 0; begin < environment.plugin_path.size();) {
    const size_t end = std::min(environment.plugin_path.find(':', begin), environment.plugin_path.size());
    // An empty part would mean the current folder, which is never intended.
    if (end > begin) {
      places.push_back({PluginSource::Environment,
                        environment.plugin_path.substr(begin, end - begin),
                        ignored,
                        false,
                        {}});
    }
    begin = end + 1;
  }
  std::filesystem::path data = environment.data_home;
  if (!data.is_absolute() && !environment.home.empty()) {
    data = std::filesystem::path(environment.home) / ".local" / "share";
  }
  if (data.is_absolute()) {
    places.push_back({PluginSource::User, data / "tunesmith" / "plugins", ignored, false, {}});
  }
  if (!environment.kernel_folder.empty()) {
    places.push_back(
        {PluginSource::System, environment.kernel_folder / "tunesmith" / "plugins", {}, false, {}});
  }
  return places;
}

}  // namespace tunesmith
