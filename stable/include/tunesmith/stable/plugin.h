// Plugins of the stable tier: they load on every kernel of their major version with at least the minor
// version that they need, regardless of the compilers and standard libraries of both. Plugin authors include
// the header of the interface that the plugin implements, module.h or task_scheduler.h, which includes this
// one.
//
//   TUNESMITH_PLUGIN(Null, tunesmith::PluginKind::Module, "null", "1.0.0", "does nothing",
//                    tunesmith::OptionSpec::boolean("loudly", false, "say so"));
//
// One library contains one plugin. tunesmith_add_plugin (CMake) builds it and writes its manifest.
// docs/plugin-rules.md numbers the rules. A plugin declares its options (OptionSpec) and gets their checked
// values (Options); a module also describes its relations to other modules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "tunesmith/stable/primitives.h"

namespace tunesmith {
inline namespace stable {

/// The declaration of an option, made by the named functions. Each takes a line of help with the option's
/// effect and unit, if any.
struct OptionSpec {
  using Value =
      std::variant<bool, int64_t, double, std::string, std::vector<int64_t>, std::vector<std::string>>;

  static OptionSpec boolean(std::string name, bool default_value, std::string help) {
    return {TUNESMITH_OPTION_TYPE_BOOLEAN, std::move(name), default_value, std::move(help)};
  }
  static OptionSpec integer(std::string name, int64_t default_value, std::string help) {
    return {TUNESMITH_OPTION_TYPE_INTEGER, std::move(name), default_value, std::move(help)};
  }
  static OptionSpec integer(std::string name, int64_t default_value, int64_t min, int64_t max,
                            std::string help) {
    return integer(std::move(name), default_value, std::move(help)).within(min, max);
  }
  static OptionSpec real(std::string name, double default_value, std::string help) {
    return {TUNESMITH_OPTION_TYPE_REAL, std::move(name), default_value, std::move(help)};
  }
  static OptionSpec real(std::string name, double default_value, double min, double max, std::string help) {
    return real(std::move(name), default_value, std::move(help)).within(min, max);
  }
  static OptionSpec string(std::string name, std::string default_value, std::string help) {
    return {TUNESMITH_OPTION_TYPE_TEXT, std::move(name), std::move(default_value), std::move(help)};
  }
  /// One of `choices`.
  static OptionSpec choice(std::string name, std::string default_value, std::vector<std::string> choices,
                           std::string help) {
    OptionSpec spec{TUNESMITH_OPTION_TYPE_CHOICE, std::move(name), std::move(default_value), std::move(help)};
    spec.choices = std::move(choices);
    return spec;
  }
  /// A list of integers, each from `min` to `max`. May be empty.
  static OptionSpec integers(std::string name, std::vector<int64_t> default_value, int64_t min, int64_t max,
                             std::string help) {
    return OptionSpec{TUNESMITH_OPTION_TYPE_INTEGERS, std::move(name), std::move(default_value),
                      std::move(help)}
        .within(min, max);
  }
  /// A list of strings; each one of `choices`, unless that is empty. May be empty.
  static OptionSpec strings(std::string name, std::vector<std::string> default_value,
                            std::vector<std::string> choices, std::string help) {
    OptionSpec spec{TUNESMITH_OPTION_TYPE_TEXTS, std::move(name), std::move(default_value), std::move(help)};
    spec.choices = std::move(choices);
    return spec;
  }

  uint32_t type = TUNESMITH_OPTION_TYPE_BOOLEAN;
  std::string name;
  Value default_value = false;
  std::string help;
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  std::vector<std::string> choices = {};

 private:
  template <typename Number>
  OptionSpec within(Number least, Number greatest) && {
    min = static_cast<double>(least);
    max = static_cast<double>(greatest);
    return std::move(*this);
  }
};

namespace detail {

inline void declare(tunesmith_option_list* list, const OptionSpec& spec) {
  std::vector<tunesmith_text> choices;
  for (const std::string& choice : spec.choices) choices.push_back(text(choice));
  std::visit(
      [&](const auto& held) {
        const Argument initial(held);
        tunesmith_option told = {};
        told.size = sizeof(told);
        told.type = spec.type;
        told.name = text(spec.name);
        told.help = text(spec.help);
        told.initial = initial.value;
        told.minimum = spec.min;
        told.maximum = spec.max;
        told.choices = {choices.data(), choices.size(), sizeof(tunesmith_text)};
        check(tables.options->declare(list, &told));
      },
      spec.default_value);
}

}  // namespace detail

/// Checked values of all declared options, with defaults for those not written. Valid during the constructor
/// that gets it. Requesting an undeclared name or another type is a misuse.
class Options {
 public:
  explicit Options(const tunesmith_options* options) : options_(options) {}

  bool get_bool(std::string_view name) const { return get(name, TUNESMITH_TAG_BOOLEAN).as.integer != 0; }
  int64_t get_int(std::string_view name) const { return get(name, TUNESMITH_TAG_INTEGER).as.integer; }
  double get_double(std::string_view name) const { return get(name, TUNESMITH_TAG_REAL).as.real; }
  /// The value of a string or a choice.
  std::string get_string(std::string_view name) const { return string_of(get(name, TUNESMITH_TAG_TEXT)); }
  std::vector<int64_t> get_ints(std::string_view name) const {
    std::vector<int64_t> list;
    const tunesmith_value value = get(name, TUNESMITH_TAG_LIST);
    for (uint32_t i = 0; i < value.count; ++i) list.push_back(value.as.list[i].as.integer);
    return list;
  }
  std::vector<std::string> get_strings(std::string_view name) const {
    std::vector<std::string> list;
    const tunesmith_value value = get(name, TUNESMITH_TAG_LIST);
    for (uint32_t i = 0; i < value.count; ++i) list.push_back(string_of(value.as.list[i]));
    return list;
  }

  /// Did the user write the option, or is it the default?
  bool is_set(std::string_view name) const {
    uint32_t set = 0;
    detail::check(detail::tables.options->is_set(options_, detail::text(name), &set));
    return set != 0;
  }

  /// Throws a UserError of the plugin's own check, at the option's location.
  [[noreturn]] void fail(std::string_view name, std::string_view message) const {
    throw_error(detail::tables.options->fail(options_, detail::text(name), detail::text(message)));
  }
  /// The same, at a character of the option's text.
  [[noreturn]] void fail(std::string_view name, size_t offset, std::string_view message) const {
    throw_error(detail::tables.options->fail_at(options_, detail::text(name), offset, detail::text(message)));
  }

  const tunesmith_options* handle() const { return options_; }

 private:
  static std::string string_of(const tunesmith_value& value) { return {value.as.text, value.count}; }
  tunesmith_value get(std::string_view name, uint32_t tag) const {
    tunesmith_value value = {};
    detail::check(detail::tables.options->get(options_, detail::text(name), &value));
    if (value.tag != tag) throw InternalError("option '" + std::string(name) + "' is of another type");
    return value;
  }

  const tunesmith_options* options_;
};

enum class PluginKind : uint32_t {
  Module = TUNESMITH_PLUGIN_KIND_MODULE,
  TaskScheduler = TUNESMITH_PLUGIN_KIND_TASK_SCHEDULER
};

/// What a module declares about itself for the composition of spaces. Annotations are hints: they change no
/// result, and some module must consume them; `spaces lint` lists annotations that no module consumes.
struct ModuleDescription {
  /// Keys of annotations that this object, with its options, may leave for other modules.
  std::vector<std::string> makes = {};
  /// Keys of annotations that it consumes.
  std::vector<std::string> consumes = {};
  /// Ids of modules that this one needs. A space that names this module gets them, too, with default options,
  /// unless it names or removes them itself.
  std::vector<std::string> partners = {};
  /// The position of this module if another one brings it: before the first of these modules that the space
  /// has, else at the end.
  std::vector<std::string> before = {};
};

/// PluginInterface<kind>: the base class of the plugin, and the functions that the kernel calls.
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

/// The plugin's functions for the class `Class`, which has a constructor from `const Options&`, or a default
/// constructor if it has no options.
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
///   id       the name in spaces.yaml: a-z, 0-9 and _, unique among the plugins of its kind
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
