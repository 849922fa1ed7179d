// The header for plugin authors, with the header of the interface that the plugin implements:
//
//   #include <tunesmith/plugin/plugin.h>
//   #include <tunesmith/space/module.h>
//
//   namespace {
//   class Null final : public tunesmith::TransformationModule {
//    public:
//     explicit Null(const tunesmith::Options& options);
//     ...
//   };
//   }  // namespace
//
//   TUNESMITH_PLUGIN(Null, tunesmith::PluginKind::Module, "null", "1.0.0", "does nothing",
//                    tunesmith::OptionSpec::boolean("loudly", false, "say so"));
//
// One library contains one plugin. tunesmith_add_plugin (CMake) builds
// it and writes its manifest. docs/plugin-rules.md numbers the rules.
//
// Lifetime: the kernel creates an object for each place where spaces.yaml names the
// plugin, after checking the options, and destroys it before the run ends. The library
// is never unloaded. Errors: the constructor may throw UserError (best by Options::fail)
// for contradictory options and EnvironmentError for what the machine lacks; anything
// else counts as a fault of the plugin. The kernel adds the plugin's name.
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include "tunesmith/plugin/exact_note.h"
#include "tunesmith/plugin/kind.h"
#include "tunesmith/plugin/options.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// What the kernel looks up in a loaded library as tunesmith_plugin_descriptor.
/// TUNESMITH_PLUGIN makes it. The functions may throw; only the kernel's adapter calls them.
struct PluginDescriptor {
  uint32_t size;  ///< sizeof(PluginDescriptor)
  uint16_t api_major;
  uint16_t api_minor;
  PluginKind kind;
  const char* id;
  const char* version;
  const char* help;  ///< one line: what the plugin does
  std::vector<OptionSpec> (*options)();
  /// Makes an object, as a pointer to PluginInterface<kind>::type. Thread-safe.
  void* (*create)(const Options& options);
  /// Destroys what `create` returned.
  void (*destroy)(void* object) noexcept;
};

/// The entry points of a plugin of class `Class`, whose constructor
/// takes `const Options&`, or nothing if the plugin has no options.
template <typename Class, PluginKind kind>
struct PluginEntry {
  using Interface = typename PluginInterface<kind>::type;
  static_assert(std::is_base_of_v<Interface, Class>, "the class must derive from the interface of its kind");
  static_assert(std::has_virtual_destructor_v<Interface>);

  static void* create([[maybe_unused]] const Options& options) {
    if constexpr (std::is_constructible_v<Class, const Options&>) {
      return static_cast<Interface*>(new Class(options));
    } else {
      return static_cast<Interface*>(new Class());
    }
  }
  static void destroy(void* object) noexcept { delete static_cast<Interface*>(object); }
};

}  // namespace tunesmith
#pragma GCC visibility pop

/// The only symbol that a plugin exports.
extern "C" __attribute__((visibility("default")))
const tunesmith::PluginDescriptor tunesmith_plugin_descriptor;

/// TUNESMITH_PLUGIN(Class, kind, id, version, help, OptionSpec...); at global scope, once per library.
///   kind     a tunesmith::PluginKind
///   id       the name in spaces.yaml: a-z, 0-9 and _, unique among the plugins of its kind
///   version  of the plugin, "major.minor.patch"
///   help     one line
#define TUNESMITH_PLUGIN(Class, plugin_kind, plugin_id, plugin_version, plugin_help, ...)      \
  TUNESMITH_EXPORT_NOTE(::tunesmith::make_exact_note(plugin_kind, plugin_id, plugin_version)); \
  constinit const ::tunesmith::PluginDescriptor tunesmith_plugin_descriptor = {                \
      sizeof(::tunesmith::PluginDescriptor),                                                   \
      ::tunesmith::kApiMajor,                                                                  \
      ::tunesmith::kApiMinor,                                                                  \
      plugin_kind,                                                                             \
      plugin_id,                                                                               \
      plugin_version,                                                                          \
      plugin_help,                                                                             \
      [] { return ::std::vector<::tunesmith::OptionSpec>{__VA_ARGS__}; },                      \
      &::tunesmith::PluginEntry<Class, plugin_kind>::create,                                   \
      &::tunesmith::PluginEntry<Class, plugin_kind>::destroy}
