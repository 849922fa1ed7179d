// What makes a library a plugin of the stable tier: it loads on every kernel of its major version that is not
// older than it needs, whatever compiler and standard library built either. A plugin's author includes the
// header of the interface that the plugin implements, module.h or task_scheduler.h, which includes this one.
//
//   TUNESMITH_PLUGIN(Null, tunesmith::PluginKind::Module, "null", "1.0.0", "does nothing",
//                    tunesmith::OptionSpec::boolean("loudly", false, "say so"));
//
// One library holds one plugin. Build it with tunesmith_add_plugin (CMake), which also writes its manifest.
// What a plugin must and may not do is numbered in docs/plugin-rules.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tunesmith/stable/c/note.h"
#include "tunesmith/stable/options.h"

namespace tunesmith {
inline namespace stable {

enum class PluginKind : uint32_t {
  Module = TUNESMITH_PLUGIN_KIND_MODULE,
  TaskScheduler = TUNESMITH_PLUGIN_KIND_TASK_SCHEDULER
};

/// PluginInterface<kind>: the class to derive from, and what the kernel calls.
template <PluginKind kind>
struct PluginInterface;

namespace detail {

template <size_t size>
consteval void write_text(char (&field)[size], std::string_view text) {
  if (text.empty() || text.size() >= size) throw "a text of the plugin's note is empty, or too long";
  for (size_t i = 0; i < text.size(); ++i) field[i] = text[i];
}

consteval tunesmith_elf_note make_note(PluginKind kind, std::string_view id, std::string_view version) {
  for (const char c : id) {
    if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_')) throw "an id is of a-z, 0-9 and _";
  }
  tunesmith_elf_note note = {};
  write_text(note.owner, "tunesmith");
  note.owner_size = 10;
  note.content_size = sizeof(tunesmith_note);
  note.type = TUNESMITH_NOTE_TYPE;
  for (size_t i = 0; i < sizeof(note.content.magic); ++i) note.content.magic[i] = TUNESMITH_NOTE_MAGIC[i];
  note.content.note_version = TUNESMITH_NOTE_VERSION;
  note.content.note_size = sizeof(tunesmith_note);
  note.content.tier = TUNESMITH_NOTE_TIER_STABLE;
  note.content.kind = static_cast<uint32_t>(kind);
  note.content.major = TUNESMITH_STABLE_MAJOR;
  note.content.min_minor = TUNESMITH_STABLE_MINOR;
  write_text(note.content.id, id);
  write_text(note.content.version, version);
  return note;
}

/// The functions of a plugin of class `Class`; a constructor taking `const Options&`, or none for a plugin
/// without options.
template <typename Class, typename Interface>
struct PluginEntry {
  static_assert(std::is_base_of_v<Interface, Class>, "the class must derive from the interface of its kind");

  static tunesmith_error* create(const tunesmith_options* options, void** object) noexcept {
    return guarded([&] {
      if constexpr (std::is_constructible_v<Class, const Options&>) {
        *object = static_cast<Interface*>(std::make_unique<Class>(Options(options)).release());
      } else {
        *object = static_cast<Interface*>(std::make_unique<Class>().release());
      }
    });
  }
  static void destroy(void* object) noexcept { delete static_cast<Interface*>(object); }
};

consteval tunesmith_text constant_text(std::string_view from) { return {from.data(), from.size()}; }

}  // namespace detail

}  // namespace stable
}  // namespace tunesmith

/// The one symbol that a plugin exports.
extern "C" __attribute__((visibility("default"))) const tunesmith_plugin tunesmith_stable_plugin;

/// TUNESMITH_PLUGIN(Class, kind, id, version, help, OptionSpec...); at global scope, once in a library.
///   kind     a tunesmith::PluginKind
///   id       what spaces.yaml calls it: a-z, 0-9 and _, unique among the plugins of its kind
///   version  of the plugin, "major.minor.patch"
///   help     one line
#define TUNESMITH_PLUGIN(Class, plugin_kind, plugin_id, plugin_version, plugin_help, ...)                \
  namespace {                                                                                            \
  __attribute__((used, section(".note.tunesmith"),                                                       \
                 aligned(4))) constinit const tunesmith_elf_note tunesmith_plugin_note =                 \
      ::tunesmith::detail::make_note(plugin_kind, plugin_id, plugin_version);                            \
  }                                                                                                      \
  constinit const tunesmith_plugin tunesmith_stable_plugin = {                                           \
      sizeof(tunesmith_plugin),                                                                          \
      static_cast<uint32_t>(plugin_kind),                                                                \
      0,                                                                                                 \
      ::tunesmith::detail::constant_text(plugin_id),                                                     \
      ::tunesmith::detail::constant_text(plugin_version),                                                \
      ::tunesmith::detail::constant_text(plugin_help),                                                   \
      &::tunesmith::PluginInterface<plugin_kind>::kFunctions,                                            \
      &::tunesmith::detail::start,                                                                       \
      [](tunesmith_option_list* list) noexcept -> tunesmith_error* {                                     \
        return ::tunesmith::detail::guarded([&] {                                                        \
          for (const auto& spec : ::std::vector<::tunesmith::OptionSpec>{__VA_ARGS__})                   \
            ::tunesmith::detail::declare(list, spec);                                                    \
        });                                                                                              \
      },                                                                                                 \
      &::tunesmith::detail::PluginEntry<Class, ::tunesmith::PluginInterface<plugin_kind>::type>::create, \
      &::tunesmith::detail::PluginEntry<Class, ::tunesmith::PluginInterface<plugin_kind>::type>::destroy}
