#define BOOST_DLL_USE_STD_FS
#include "plugin/loader.h"

#include <cstddef>
#include <vector>  // missing in Boost.DLL 1.74

#include <boost/dll/shared_library.hpp>
#include <dlfcn.h>
#include <fmt/format.h>

#include "plugin/elf_note.h"
#include "plugin/pack_libraries.h"
#include "plugin/search_path.h"
#include "plugin/stable_plugin.h"
#include "plugin/trust.h"
#include "tunesmith/plugin/guard.h"
#include "tunesmith/support/hash.h"

namespace tunesmith {

namespace {

constexpr int kEnvironmentFault = 4;  // the exit code
constexpr const char* kDescriptorSymbol = "tunesmith_plugin_descriptor";
constexpr const char* kStableSymbol = "tunesmith_stable_plugin";

[[noreturn]] void refuse(const PluginInfo& plugin, const std::string& why) {
  throw PluginError(plugin.kind, plugin.id, fmt::format("{} is refused: {}", plugin.library.string(), why));
}

/// The prefix for find_package that leads to this kernel: the folder above lib or lib/<architecture>.
std::string kernel_prefix() {
  std::filesystem::path folder = PluginEnvironment::of_this_process().kernel_folder;
  while (!folder.empty() && folder != folder.root_path() && !folder.filename().string().starts_with("lib")) {
    folder = folder.parent_path();
  }
  return folder.parent_path().string();
}

// The build rule depends on the headers' times, and a newly installed kernel
// may have older headers than an existing build: nothing would be rebuilt.
std::string rebuild_command() {
  return fmt::format(
      "rebuild it against the headers of this kernel: cmake -B build -DCMAKE_PREFIX_PATH={} && cmake "
      "--build build --clean-first",
      kernel_prefix());
}

std::string rebuild_remedy() { return "remedy: " + rebuild_command(); }

/// Resolves links once; the result is opened, hashed and loaded.
std::filesystem::path resolve_library(const PluginInfo& plugin) {
  std::error_code error;
  const std::filesystem::path resolved = std::filesystem::canonical(plugin.library, error);
  if (error) refuse(plugin, fmt::format("[P6] listed in the manifest but missing: {}", error.message()));
  const std::filesystem::path pack = plugin.manifest.parent_path();
  if (!is_below(resolved, pack)) {
    refuse(plugin,
           fmt::format("[P10] it links to {}, outside its pack's folder; remedy: put the file itself into {}",
                       resolved.string(), pack.string()));
  }
  return resolved;
}

/// Checks the bytes against the hashes of the manifest and the lock file; `doubt` is part of the message.
void check_hash(const PluginInfo& plugin, const std::string& content, const PluginLock* lock,
                const std::string& doubt) {
  const std::string hash = sha256_hex(content);
  if (hash != plugin.sha256) {
    refuse(plugin, fmt::format("[P9] its SHA-256 is {}, but {} has {}{}; remedy: reinstall the pack", hash,
                               plugin.manifest.string(), plugin.sha256, doubt));
  }
  if (lock != nullptr) {
    const auto locked = lock->find({plugin.kind, plugin.id});
    if (locked == lock->end()) {
      refuse(plugin, "[P15] the lock file does not list it; remedy: tunesmith plugins lock");
    }
    if (locked->second.sha256 != hash || locked->second.version != plugin.version) {
      refuse(plugin,
             fmt::format("[P15] locked is version {} with SHA-256 {}, this is {} with {}; remedy: tunesmith "
                         "plugins lock",
                         locked->second.version, locked->second.sha256, plugin.version, hash));
    }
    if (locked->second.libraries != plugin.libraries) {
      refuse(
          plugin,
          fmt::format(
              "[P15] the libraries bundled by {} differ from the locked ones; remedy: tunesmith plugins lock",
              plugin.manifest.string()));
    }
  }
}

/// Compares the note with the kernel, for both tiers.
void check_note(const PluginInfo& plugin, const PluginNote& note) {
  const auto tier = static_cast<PluginTier>(note.tier);
  const PluginNote ours = kernel_note(tier, static_cast<PluginKind>(note.kind));
  const std::vector<NoteDifference> differences = note_differences(note, ours);
  if (differences.empty()) return;
  std::vector<std::string_view> texts;
  for (const NoteDifference& difference : differences) texts.push_back(difference.text);
  std::string remedy = rebuild_remedy();
  if (tier == PluginTier::Stable && note.api_major == ours.api_major) {
    remedy = fmt::format("remedy: install a Tunesmith whose stable interface is {}.{} or newer; or {}",
                         note.api_major, note.api_minor, rebuild_command());
  }
  refuse(plugin, fmt::format("[{}] {}; {}", differences.front().rule, fmt::join(texts, "; "), remedy));
}

/// All checks of a library's bytes before it is loaded.
PluginTier check_content(const PluginInfo& plugin, const std::string& content, const PluginLock* lock) {
  const auto note = read_plugin_note(content);
  check_hash(plugin, content, lock, note ? std::string{} : fmt::format(" ({})", note.error()));
  if (!note) refuse(plugin, fmt::format("[P1] {}; {}", note.error(), rebuild_remedy()));
  check_note(plugin, *note);
  const auto kind = static_cast<PluginKind>(note->kind);
  if (kind != plugin.kind || note_view(note->id) != plugin.id) {
    refuse(plugin, fmt::format("[P4] {} lists {}, but it contains {}", plugin.manifest.string(),
                               plugin_name(plugin.kind, plugin.id), plugin_name(kind, note_view(note->id))));
  }
  return static_cast<PluginTier>(note->tier);
}

thread_local std::string loading_name;

/// An exception that unwinds through dlopen has undefined effects, and whether it can depends on the
/// library's compiler. So an exception in the library's initialisers ends the process, with a message that
/// names the plugin.
class TerminateNamesPlugin {
 public:
  explicit TerminateNamesPlugin(const PluginInfo& plugin) {
    loading_name = fmt::format("{}: {}", plugin_name(plugin.kind, plugin.id), plugin.library.string());
    previous_ = std::set_terminate(&end_process);
  }
  ~TerminateNamesPlugin() {
    std::set_terminate(previous_);
    loading_name.clear();
  }
  TerminateNamesPlugin(const TerminateNamesPlugin&) = delete;
  TerminateNamesPlugin& operator=(const TerminateNamesPlugin&) = delete;

 private:
  static void end_process() {
    std::string what;
    try {
      if (const auto failure = std::current_exception()) std::rethrow_exception(failure);
    } catch (const std::exception& error) {
      what = error.what();
    } catch (...) {  // see guard_plugin
      what = "something that is no exception";
    }
    const std::string text =
        fmt::format("{} is refused: [P12] its initialisers threw: {}\n", loading_name, what);
    if (write(STDERR_FILENO, text.data(), text.size()) < 0) std::abort();
    _exit(kEnvironmentFault);
  }

  std::terminate_handler previous_ = nullptr;
};

boost::dll::shared_library load_library(const PluginInfo& plugin, const std::string& path) {
  // RTLD_NODELETE: pointers from the library stay valid for ever, so no handle needs to be kept.
  const auto mode = static_cast<boost::dll::load_mode::type>(RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  const TerminateNamesPlugin named(plugin);
  const PluginWatch watch(plugin.kind, plugin.id, "loading it");
  boost::dll::shared_library library;
  boost::dll::fs::error_code error;
  try {
    library.load(path, mode, error);
  } catch (...) {  // of the library's initialisers: see TerminateNamesPlugin
    std::terminate();
  }
  if (!error) return library;
  const char* const said = dlerror();
  std::string why = said != nullptr ? said : error.message();
  if (why.starts_with(path)) why.replace(0, path.size(), plugin.library);
  refuse(plugin, fmt::format("[P11] it cannot be loaded: {}", why));
}

/// Loads the checked file, even if its path refers to another one now.
boost::dll::shared_library load_library(const PluginInfo& plugin, TrustedFile& file) {
  return load_library(plugin, file.lasting_path().string());
}

/// Preloads the needed libraries, so that the dynamic linker finds them by name without searching.
void load_needed(const PluginInfo& plugin, const NeededLibraries& needed) {
  for (const std::filesystem::path& library : needed.outside) {
    // A library of that name (such as the kernel) is already loaded: do not load a second copy.
    if (void* const there = dlopen(library.filename().c_str(), RTLD_LAZY | RTLD_NOLOAD)) {
      dlclose(there);
    } else {
      load_library(plugin, library.string());
    }
  }
  for (const auto& file : needed.of_pack) load_library(plugin, *file);
}

/// Loads the library and looks up `symbol`.
template <typename Descriptor>
const Descriptor* fetch_descriptor(const PluginInfo& plugin, TrustedFile& file, const char* symbol) {
  const boost::dll::shared_library library = load_library(plugin, file);
  if (!library.has(symbol))
    refuse(plugin, fmt::format("[P5] it exports no symbol {}; {}", symbol, rebuild_remedy()));
  return &library.get<const Descriptor>(symbol);
}

/// The descriptor must agree with the note, which was checked against the kernel.
void check_descriptor(const PluginInfo& plugin, const PluginDescriptor& descriptor) {
  const bool complete = descriptor.size == sizeof(PluginDescriptor) && descriptor.id != nullptr &&
                        descriptor.version != nullptr && descriptor.help != nullptr &&
                        descriptor.options != nullptr && descriptor.create != nullptr &&
                        descriptor.destroy != nullptr;
  if (!complete || descriptor.kind != plugin.kind || plugin.id != descriptor.id) {
    refuse(plugin, fmt::format("[P5] its descriptor contradicts its note; {}", rebuild_remedy()));
  }
}

/// A plugin that needs only version 1.0 may have a shorter
/// descriptor; later fields exist if its size includes them.
void check_stable_descriptor(const PluginInfo& plugin, const tunesmith_plugin& descriptor) {
  constexpr size_t kLength = offsetof(tunesmith_plugin, destroy) + sizeof(descriptor.destroy);
  const bool complete =
      descriptor.size >= kLength && descriptor.id.data != nullptr && descriptor.version.data != nullptr &&
      descriptor.help.data != nullptr && descriptor.interface != nullptr && descriptor.start != nullptr &&
      descriptor.declare != nullptr && descriptor.create != nullptr && descriptor.destroy != nullptr;
  if (!complete || descriptor.kind != static_cast<uint32_t>(plugin.kind) ||
      plugin.id != std::string_view(descriptor.id.data, descriptor.id.size)) {
    refuse(plugin, fmt::format("[P5] its descriptor contradicts its note; {}", rebuild_remedy()));
  }
}

/// The first calls: initialise the plugin, and get its options.
std::vector<OptionSpec> start_plugin(const PluginInfo& plugin, const LoadedPlugin& loaded) {
  if (loaded.stable == nullptr) {
    check_descriptor(plugin, *loaded.descriptor);
    return guard_plugin(plugin.kind, plugin.id, "options", loaded.descriptor->options);
  }
  check_stable_descriptor(plugin, *loaded.stable);
  guard_plugin(plugin.kind, plugin.id, "start", [&] { start_stable_plugin(*loaded.stable); });
  return guard_plugin(plugin.kind, plugin.id, "options", [&] { return stable_option_specs(*loaded.stable); });
}

FilePlugin load_file(const PluginInfo& plugin, const std::string& content, const PluginLock* lock) {
  check_hash(plugin, content, lock, "");
  try {
    FilePlugin file = read_file_plugin(plugin, content);
    if (file.id != plugin.id) {
      refuse(plugin, fmt::format("[P4] {} lists {}, but it contains {}", plugin.manifest.string(),
                                 plugin_name(plugin.kind, plugin.id), plugin_name(plugin.kind, file.id)));
    }
    return file;
  } catch (const UserError& error) {
    refuse(plugin, fmt::format("[P1] {}", error.what()));
  }
}

}  // namespace

std::string LoadedPlugin::help() const {
  if (stable != nullptr) return {stable->help.data, stable->help.size};
  return descriptor != nullptr ? descriptor->help : file.help;
}

std::string LoadedPlugin::version() const {
  if (stable != nullptr) return {stable->version.data, stable->version.size};
  return descriptor != nullptr ? descriptor->version : "";
}

std::string hash_plugin(const PluginInfo& plugin) {
  const std::filesystem::path path = resolve_library(plugin);
  try {
    const std::string content = TrustedFile(path).read(kLargestLibrary);
    std::string hash = sha256_hex(content);
    if (hash == plugin.sha256 && !is_file_plugin(plugin)) check_pack_libraries(plugin, path, content);
    return hash;
  } catch (const EnvironmentError& error) {
    refuse(plugin, error.what());
  }
}

LoadedPlugin load_plugin(const PluginInfo& plugin, const PluginLock* lock) {
  const std::filesystem::path path = resolve_library(plugin);
  LoadedPlugin loaded;
  try {
    TrustedFile file(path);
    if (is_file_plugin(plugin)) {
      loaded.file = load_file(plugin, file.read(kLargestLibrary), lock);
      return loaded;
    }
    const std::string content = file.read(kLargestLibrary);
    const PluginTier tier = check_content(plugin, content, lock);
    load_needed(plugin, check_pack_libraries(plugin, path, content));
    if (tier == PluginTier::Stable) {
      loaded.stable = fetch_descriptor<tunesmith_plugin>(plugin, file, kStableSymbol);
    } else {
      loaded.descriptor = fetch_descriptor<PluginDescriptor>(plugin, file, kDescriptorSymbol);
    }
    if (!file.unchanged()) refuse(plugin, "[P8] it was changed during loading");
  } catch (const PluginError&) {
    throw;
  } catch (const EnvironmentError& error) {
    refuse(plugin, error.what());
  }
  loaded.options = start_plugin(plugin, loaded);
  const std::string problem = guard_plugin(plugin.kind, plugin.id, "declaring its options",
                                           [&] { return check_option_specs(loaded.options); });
  if (!problem.empty()) refuse(plugin, "[P13] " + problem);
  return loaded;
}

}  // namespace tunesmith
