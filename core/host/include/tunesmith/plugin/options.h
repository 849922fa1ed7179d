// Typed options: what a plugin declares, what the user
// wrote, and the checked values that the plugin receives.
//
//   a plugin declares OptionSpecs:
//       OptionSpec::integer("max_innermost", 64, 1, 1024, "...")
//   the reader of a file makes RawOptions:
//       name, text and place of every key and value
//   Options::validate checks the one against the other:
//       UserError with file:line:column
//   the plugin reads Options in its constructor:
//       options.get_int("max_innermost")
//
// All types here are plain values: copyable, and safe to read from several threads.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "tunesmith/support/error.h"

#pragma GCC visibility push(default)
namespace tunesmith {

enum class OptionType { Boolean, Integer, Real, String, Choice, IntegerList, StringList };

using OptionValue =
    std::variant<bool, int64_t, double, std::string, std::vector<int64_t>, std::vector<std::string>>;

/// "true", "64", "0.5", "text", "[1, 2]", "[a, b]": in the syntax of spaces.yaml.
std::string option_text(const OptionValue& value);

/// One option that a plugin declares, made by the named functions; each
/// takes a line of help that says what the option does and its unit, if any.
struct OptionSpec {
  static OptionSpec boolean(std::string name, bool default_value, std::string help);
  static OptionSpec integer(std::string name, int64_t default_value, std::string help);
  static OptionSpec integer(std::string name, int64_t default_value, int64_t min, int64_t max,
                            std::string help);
  static OptionSpec real(std::string name, double default_value, std::string help);
  static OptionSpec real(std::string name, double default_value, double min, double max, std::string help);
  static OptionSpec string(std::string name, std::string default_value, std::string help);
  /// One of `choices`.
  static OptionSpec choice(std::string name, std::string default_value, std::vector<std::string> choices,
                           std::string help);
  /// A list of integers, each from `min` to `max`. May be empty.
  static OptionSpec integers(std::string name, std::vector<int64_t> default_value, int64_t min, int64_t max,
                             std::string help);
  /// A list of strings; each one of `choices`, unless that is empty. May be empty.
  static OptionSpec strings(std::string name, std::vector<std::string> default_value,
                            std::vector<std::string> choices, std::string help);

  /// The expected value in words: "an integer from 1 to 1024", "one of: nearest, farthest".
  std::string expected() const;

  std::string name;
  OptionType type = OptionType::Boolean;
  OptionValue default_value = false;
  double min = -std::numeric_limits<double>::infinity();  ///< of an Integer, Real or IntegerList; inclusive
  double max = std::numeric_limits<double>::infinity();   ///< inclusive
  std::vector<std::string> choices;
  std::string help;
};

/// "", or why these options are invalid (a duplicate
/// name, a default out of range, no help).
std::string check_option_specs(std::span<const OptionSpec> specs);

/// A value as the user wrote it.
struct RawScalar {
  std::string text;
  SourceLocation location;
  bool quoted = false;  ///< written in quotes: a string even if it looks like a number
  /// The locations of the parts of a text of several lines: offset of each part's first character
  /// (increasing) and location. Empty when the text begins at `location` and is contiguous.
  std::vector<std::pair<size_t, SourceLocation>> parts = {};
};

/// An option as the user wrote it: `name: text`, or `name: [text, text]`. Mapping and Null always lead to
/// a "wrong type" error; readers pass them on so that the message is the same as for other wrong types.
struct RawOption {
  enum class Shape { Scalar, List, Mapping, Null };

  std::string name;
  SourceLocation location;  ///< of the name
  Shape shape = Shape::Scalar;
  std::vector<RawScalar> values;  ///< exactly one for a Scalar
  SourceLocation value_location;  ///< of the value as a whole
};

/// Checked values, one for every declared option; options that were not written have their
/// defaults. Asking for an undeclared name or another type is a programming error: InternalError.
class Options {
 public:
  Options() = default;

  /// Throws UserError at the first option (in written order) with an unknown name (with the
  /// nearest known), a duplicate name, a wrong type or a value out of range. `owner` names the
  /// owner of the options in messages ("module 'auto_inline'"); `location` is where it was named.
  static Options validate(std::span<const OptionSpec> specs, std::span<const RawOption> written,
                          std::string owner, SourceLocation location = {});

  /// All defaults, for tests and for a plugin named without options.
  static Options defaults(std::span<const OptionSpec> specs, std::string owner);

  bool get_bool(std::string_view name) const;
  int64_t get_int(std::string_view name) const;
  double get_double(std::string_view name) const;
  /// For a String or a Choice.
  const std::string& get_string(std::string_view name) const;
  const std::vector<int64_t>& get_ints(std::string_view name) const;
  const std::vector<std::string>& get_strings(std::string_view name) const;

  /// Did the user write it, or is it the default?
  bool is_set(std::string_view name) const;

  /// Where the value was written; for a default, where the owner was named.
  const SourceLocation& location(std::string_view name) const;

  /// The location of the character at `offset` of a String's value, also in texts of several lines.
  SourceLocation location(std::string_view name, size_t offset) const;

  /// Throws a UserError of the plugin's own check at the option's location:
  /// "FILE:LINE:COLUMN: option 'structure' of module 'multi_level_tiling': MESSAGE".
  [[noreturn]] void fail(std::string_view name, const std::string& message) const;
  /// The same at the character at `offset` of a String's value.
  [[noreturn]] void fail(std::string_view name, size_t offset, const std::string& message) const;

  /// All values in the order of declaration, with defaults: "max_innermost=64
  /// structure=SSRSRS". Independent of the machine, so that a hash of it may be recorded.
  std::string str() const;

 private:
  struct Entry {
    std::string name;
    OptionValue value;
    SourceLocation location;
    bool set = false;
    std::vector<std::pair<size_t, SourceLocation>> parts = {};
  };
  const Entry& entry(std::string_view name) const;
  template <typename T>
  const T& get(std::string_view name) const;

  std::vector<Entry> entries_;
  std::string owner_;
  SourceLocation location_;
};

}  // namespace tunesmith
#pragma GCC visibility pop
