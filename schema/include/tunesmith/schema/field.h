// Reads a message's header or a line's content, and believes nothing: a candidate, or anybody, may have
// written it.
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

/// A value in a JSON object, and the place where it stands. Reading never throws. What is wrong first
/// (missing, of another type, beyond a limit) is reported in the reader's error; an invalid field reads as 0,
/// false or "".
class Field {
 public:
  /// The object as a whole. Both outlive this; `error` is empty until something is wrong.
  Field(const nlohmann::json& object, std::string& error);

  /// A member of this object.
  Field operator[](std::string_view name) const;
  /// Nothing when there is no such member, which is not wrong.
  std::optional<Field> find(std::string_view name) const;
  /// Nothing when this is null: it is not known.
  std::optional<Field> if_known() const;

  bool boolean() const;
  int64_t integer(int64_t min, int64_t max) const;
  /// Any 64 bits.
  uint64_t bits() const;
  /// Finite, since JSON knows nothing else.
  double number(double min, double max) const;
  std::string text(size_t max_bytes) const;
  /// A hash, as text of 16 hexadecimal digits.
  uint64_t hash() const;
  /// A text that can only be this one.
  void expect(std::string_view wanted) const;

  /// What `read` makes of each element.
  template <typename Read>
  auto list(size_t min, size_t max, Read read) const {
    std::vector<decltype(read(std::declval<Field>()))> values;
    const size_t count = length(min, max);
    for (size_t i = 0; i < count; ++i) values.push_back(read(element(i)));
    return values;
  }

  /// Says what else is wrong with it: "is 'i7', which is no type".
  void wrong(std::string_view what) const;

 private:
  Field(const nlohmann::json* value, std::string place, std::string* error);
  size_t length(size_t min, size_t max) const;
  Field element(size_t index) const;
  void of_type(std::string_view wanted) const;

  const nlohmann::json* value_;  // null: something before it is wrong
  std::string place_;            // "references[1].symbol"; empty for the whole
  std::string* error_;
};

/// What was read, or what is wrong.
template <typename T>
tl::expected<T, std::string> checked(T value, const std::string& error) {
  if (!error.empty()) return tl::make_unexpected(error);
  return value;
}

}  // namespace tunesmith
#pragma GCC visibility pop
