// Reads a message's header or a line's content from an untrusted source, such as a candidate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>
#include <tl/expected.hpp>

#pragma GCC visibility push(default)
namespace tunesmith {

/// A value in a JSON object and its path. Reading never throws. The
/// first problem (missing, wrong type, beyond a limit) is stored in
/// the reader's error; an invalid field reads as 0, false or "".
class Field {
 public:
  /// The object as a whole. Both arguments outlive this; `error` is empty until there is a problem.
  Field(const nlohmann::json& object, std::string& error);

  /// A required member of this object.
  Field operator[](std::string_view name) const;
  /// An optional member of this object.
  std::optional<Field> find(std::string_view name) const;
  /// Nothing if this is null (unknown).
  std::optional<Field> if_known() const;

  bool boolean() const;
  int64_t integer(int64_t min, int64_t max) const;
  /// An unsigned 64-bit number.
  uint64_t bits() const;
  /// A finite number: JSON has no others.
  double number(double min, double max) const;
  std::string text(size_t max_bytes) const;
  /// A hash as 16 hexadecimal digits.
  uint64_t hash() const;
  /// Requires this text.
  void expect(std::string_view wanted) const;

  /// Applies `read` to each element.
  template <typename Read>
  auto list(size_t min, size_t max, Read read) const {
    std::vector<decltype(read(std::declval<Field>()))> values;
    const size_t count = length(min, max);
    for (size_t i = 0; i < count; ++i) values.push_back(read(element(i)));
    return values;
  }

  /// Reports another problem: "is 'i7', which is no type".
  void wrong(std::string_view what) const;

 private:
  Field(const nlohmann::json* value, std::string place, std::string* error);
  size_t length(size_t min, size_t max) const;
  Field element(size_t index) const;
  void of_type(std::string_view wanted) const;

  const nlohmann::json* value_;  // null after an earlier problem
  std::string place_;            // "references[1].symbol"; empty for the whole object
  std::string* error_;
};

/// The value, or the problem.
template <typename T>
tl::expected<T, std::string> checked(T value, const std::string& error) {
  if (!error.empty()) return tl::make_unexpected(error);
  return value;
}

}  // namespace tunesmith
#pragma GCC visibility pop
