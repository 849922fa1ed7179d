// Typed options: what a plugin declares (OptionSpec), and the checked values that it is given (Options).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "tunesmith/stable/call.h"

namespace tunesmith {
inline namespace stable {

/// One option that a plugin declares. Make one with the named functions; each takes one line of help that
/// says what the option does and, where it has one, its unit.
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

/// Checked values, one for every option that the plugin declares; what was not written has its default. Lives
/// during the constructor that is given it. Asking for a name that was not declared, or as another type, is a
/// mistake.
class Options {
 public:
  explicit Options(const tunesmith_options* options) : options_(options) {}

  bool get_bool(std::string_view name) const { return get(name, TUNESMITH_TAG_BOOLEAN).as.integer != 0; }
  int64_t get_int(std::string_view name) const { return get(name, TUNESMITH_TAG_INTEGER).as.integer; }
  double get_double(std::string_view name) const { return get(name, TUNESMITH_TAG_REAL).as.real; }
  /// Of a string or a choice.
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

  /// Was it written, or is it the default?
  bool is_set(std::string_view name) const {
    uint32_t set = 0;
    detail::check(detail::tables.options->is_set(options_, detail::text(name), &set));
    return set != 0;
  }

  /// Throws the UserError of a plugin's own check, at the place of the option.
  [[noreturn]] void fail(std::string_view name, std::string_view message) const {
    throw_error(detail::tables.options->fail(options_, detail::text(name), detail::text(message)));
  }
  /// The same, at a character of its text.
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

}  // namespace stable
}  // namespace tunesmith
