// Typed options: what a plugin declares, what a person wrote, and the checked values that the plugin is
// given.
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

/// "true", "64", "0.5", "text", "[1, 2]", "[a, b]": as it would be written in spaces.yaml.
std::string option_text(const OptionValue& value);

/// One option that a plugin declares. Make one with the named functions; each takes one line of help that
/// says what the option does and, where it has one, its unit.
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

  /// What a value must be, in words: "an integer from 1 to 1024", "one of: nearest, farthest".
  std::string expected() const;

  std::string name;
  OptionType type = OptionType::Boolean;
  OptionValue default_value = false;
  double min = -std::numeric_limits<double>::infinity();  ///< of an Integer, Real or IntegerList; inclusive
  double max = std::numeric_limits<double>::infinity();   ///< inclusive
  std::vector<std::string> choices;
  std::string help;
};

/// Why a plugin may not declare these options (a name twice, a default out of range, no help), or "" when it
/// may.
std::string check_option_specs(std::span<const OptionSpec> specs);

/// A value as a person wrote it.
struct RawScalar {
  std::string text;
  SourceLocation location;
  bool quoted = false;  ///< written in quotes, hence a string even when it looks like a number
  /// Where parts of a text of several lines stand: the offset of each part's first character, rising, and its
  /// place. Empty when the text stands at `location` as it is.
  std::vector<std::pair<size_t, SourceLocation>> parts = {};
};

/// An option as a person wrote it: `name: text`, or `name: [text, text]`. Mapping and Null only ever lead to
/// a "wrong type" error; a reader passes them on so that the message is the same as for any other wrong type.
struct RawOption {
  enum class Shape { Scalar, List, Mapping, Null };

  std::string name;
  SourceLocation location;  ///< of the name
  Shape shape = Shape::Scalar;
  std::vector<RawScalar> values;  ///< exactly one for a Scalar
  SourceLocation value_location;  ///< of the value as a whole
};

/// Checked values, one for every option that the plugin declares; what was not written has its default.
/// Asking for a name that was not declared, or as another type, is a programming error: InternalError.
class Options {
 public:
  Options() = default;

  /// Throws UserError at the first (in the order written) unknown name (with the nearest known), name given
  /// twice, wrong type or value out of range. `owner` says whose options these are, for messages
  /// ("module 'auto_inline'"); `location` is where that owner was named.
  static Options validate(std::span<const OptionSpec> specs, std::span<const RawOption> written,
                          std::string owner, SourceLocation location = {});

  /// All defaults, for tests and for a plugin that was named without options.
  static Options defaults(std::span<const OptionSpec> specs, std::string owner);

  bool get_bool(std::string_view name) const;
  int64_t get_int(std::string_view name) const;
  double get_double(std::string_view name) const;
  /// Of a String or a Choice.
  const std::string& get_string(std::string_view name) const;
  const std::vector<int64_t>& get_ints(std::string_view name) const;
  const std::vector<std::string>& get_strings(std::string_view name) const;

  /// Was it written, or is it the default?
  bool is_set(std::string_view name) const;

  /// Where the value was written; for a default, where the owner was named.
  const SourceLocation& location(std::string_view name) const;

  /// Where the character at `offset` of a String's value was written, in texts of several lines, too.
  SourceLocation location(std::string_view name, size_t offset) const;

  /// Throws the UserError of a plugin's own check, at the place of the option: "FILE:LINE:COLUMN: option
  /// 'structure' of module 'multi_level_tiling': MESSAGE".
  [[noreturn]] void fail(std::string_view name, const std::string& message) const;
  /// The same, at the character at `offset` of a String's value.
  [[noreturn]] void fail(std::string_view name, size_t offset, const std::string& message) const;

  /// All values in the order declared, defaults included: "max_innermost=64 structure=SSRSRS". The same for
  /// the same values on every machine, so that a hash of it may stand in a record.
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
