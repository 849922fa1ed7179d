#include "plugin/pack_libraries.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "plugin/elf_file.h"
#include "tunesmith/support/error.h"
#include "tunesmith/support/hash.h"

namespace tunesmith {

namespace {

namespace fs = std::filesystem;

class PackLibraries {
 public:
  explicit PackLibraries(const PluginInfo& plugin) : plugin_(plugin), pack_(plugin.manifest.parent_path()) {}

  void check_needs_of(const fs::path& library, const std::string& content) {
    const auto file = parse_elf_file(content);
    if (!file) refuse("P1", library, file.error());
    const auto needs = read_dependencies(*file);
    if (!needs) refuse("P1", library, needs.error());
    std::vector<fs::path> folders;
    for (const std::string& entry : needs->search_path) folders.push_back(searched_folder(library, entry));
    for (const std::string& name : needs->libraries) {
      if (name.find('/') != std::string::npos) {
        refuse("P10", library, fmt::format("needs {} by its path; remedy: link it by name", name));
      }
      // The dynamic linker takes the first one that exists.
      const auto found =
          std::ranges::find_if(folders, [&](const fs::path& folder) { return fs::exists(folder / name); });
      if (found == folders.end()) continue;
      const fs::path needed = (*found / name).lexically_normal();
      if (!seen_.insert(needed).second) continue;
      if (is_below(needed, pack_)) {
        check(library, needed);
      } else if (begins_at_origin(needs->search_path[static_cast<size_t>(found - folders.begin())])) {
        needed_.outside.push_back(needed);
      }
    }
  }

  NeededLibraries take() { return std::move(needed_); }

 private:
  [[noreturn]] static void refuse(const char* rule, const fs::path& library, const std::string& why) {
    throw EnvironmentError(fmt::format("[{}] {} {}", rule, library.string(), why));
  }

  static bool begins_at_origin(const std::string& entry) {
    return entry.starts_with("$ORIGIN") || entry.starts_with("${ORIGIN}");
  }

  /// An empty or relative folder would refer to the current folder.
  static fs::path searched_folder(const fs::path& library, const std::string& entry) {
    const std::string origin = library.parent_path().string();
    std::string folder = entry;
    for (const std::string_view variable : {"$ORIGIN", "${ORIGIN}"}) {
      for (size_t at = 0; (at = folder.find(variable, at)) != std::string::npos; at += origin.size())
        folder.replace(at, variable.size(), origin);
    }
    if (!fs::path(folder).is_absolute()) {
      refuse("P10", library,
             fmt::format("searches libraries in '{}', relative to the working directory; remedy: an RPATH "
                         "that begins with $ORIGIN",
                         entry));
    }
    return folder;
  }

  void check(const fs::path& library, const fs::path& needed) {
    const auto listed = plugin_.libraries.find(needed.lexically_relative(pack_).string());
    if (listed == plugin_.libraries.end()) {
      refuse("P9", library,
             fmt::format("needs {}, which is in the pack, but {} does not list it under \"libraries\"; "
                         "remedy: give tunesmith_add_plugin or tunesmith_add_pack its LIBRARIES",
                         needed.string(), plugin_.manifest.string()));
    }
    const fs::path resolved = fs::canonical(needed);
    if (!is_below(resolved, pack_)) {
      refuse("P10", needed, fmt::format("links to {}, outside its pack's folder", resolved.string()));
    }
    auto file = std::make_unique<TrustedFile>(resolved);
    const std::string content = file->read(kLargestLibrary);
    if (const std::string hash = sha256_hex(content); hash != listed->second) {
      throw EnvironmentError(
          fmt::format("[P9] the SHA-256 of {} is {}, but {} says {}; remedy: reinstall the pack",
                      needed.string(), hash, plugin_.manifest.string(), listed->second));
    }
    check_needs_of(resolved, content);
    needed_.of_pack.push_back(std::move(file));
  }

  const PluginInfo& plugin_;
  const fs::path pack_;
  std::set<fs::path> seen_;
  NeededLibraries needed_;
};

}  // namespace

NeededLibraries check_pack_libraries(const PluginInfo& plugin, const fs::path& library,
                                     const std::string& content) {
  PackLibraries libraries(plugin);
  libraries.check_needs_of(library, content);
  return libraries.take();
}

bool is_below(const fs::path& path, const fs::path& folder) {
  return std::ranges::mismatch(folder, path).in1 == folder.end();
}

}  // namespace tunesmith
