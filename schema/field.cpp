#include "tunesmith/schema/field.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tunesmith/schema/json_text.h"

namespace tunesmith {
namespace {

constexpr size_t kMaxShown = 40;  // quoted bytes of a text in a message
constexpr size_t kMaxHashDigits = 16;

std::string shown(const std::string& text) {
  return text.size() <= kMaxShown ? text : text.substr(0, kMaxShown) + "..";
}

}  // namespace

Field::Field(const nlohmann::json& object, std::string& error) : Field(&object, "", &error) {}

Field::Field(const nlohmann::json* value, std::string place, std::string* error)
    : value_(value), place_(std::move(place)), error_(error) {}

void Field::wrong(std::string_view what) const {
  if (!error_->empty()) return;
  *error_ =
      place_.empty() ? fmt::format("its header {}", what) : fmt::format("its field '{}' {}", place_, what);
}

void Field::of_type(std::string_view wanted) const {
  if (value_ != nullptr) wrong(fmt::format("is of the type {}, and must be {}", value_->type_name(), wanted));
}

std::optional<Field> Field::find(std::string_view name) const {
  if (value_ == nullptr) return std::nullopt;
  if (!value_->is_object()) {
    of_type("an object");
    return std::nullopt;
  }
  const auto found = value_->find(name);
  if (found == value_->end()) return std::nullopt;
  return Field(&*found, place_.empty() ? std::string(name) : fmt::format("{}.{}", place_, name), error_);
}

std::optional<Field> Field::if_known() const {
  if (value_ != nullptr && value_->is_null()) return std::nullopt;
  return *this;
}

Field Field::operator[](std::string_view name) const {
  if (std::optional<Field> found = find(name)) return *std::move(found);
  Field missing(nullptr, place_.empty() ? std::string(name) : fmt::format("{}.{}", place_, name), error_);
  if (value_ != nullptr) missing.wrong("is missing");
  return missing;
}

bool Field::boolean() const {
  if (value_ != nullptr && value_->is_boolean()) return value_->get<bool>();
  of_type("a boolean");
  return false;
}

int64_t Field::integer(int64_t min, int64_t max) const {
  if (value_ == nullptr || !value_->is_number_integer()) {
    of_type("an integer");
    return 0;
  }
  const bool too_large = value_->is_number_unsigned() && value_->get<uint64_t>() > uint64_t{INT64_MAX};
  const int64_t value = too_large ? 0 : value_->get<int64_t>();
  if (!too_large && value >= min && value <= max) return value;
  wrong(fmt::format("is {}, and must be from {} to {}", value_->dump(), min, max));
  return 0;
}

uint64_t Field::bits() const {
  if (value_ != nullptr && value_->is_number_unsigned()) return value_->get<uint64_t>();
  of_type("an integer of 64 bits without a sign");
  return 0;
}

double Field::number(double min, double max) const {
  if (value_ == nullptr || !value_->is_number()) {
    of_type("a number");
    return 0.0;
  }
  const auto value = value_->get<double>();
  if (value >= min && value <= max) return value;
  wrong(fmt::format("is {}, and must be from {} to {}", value, min, max));
  return 0.0;
}

std::string Field::text(size_t max_bytes) const {
  if (value_ == nullptr || !value_->is_string()) {
    of_type("text");
    return "";
  }
  const auto& text = value_->get_ref<const std::string&>();
  if (text.size() <= max_bytes) return text;
  wrong(fmt::format("has {} bytes, and may have {}", text.size(), max_bytes));
  return "";
}

uint64_t Field::hash() const {
  const std::string digits = text(kMaxHashDigits);
  const std::optional<uint64_t> value = hash_of_digits(digits);
  if (!value) wrong(fmt::format("is '{}', and must be 16 hexadecimal digits", digits));
  return value.value_or(0);
}

void Field::expect(std::string_view wanted) const {
  if (value_ == nullptr || !value_->is_string()) return of_type("text");
  if (const auto& text = value_->get_ref<const std::string&>(); text != wanted)
    wrong(fmt::format("is '{}', and must be '{}'", shown(text), wanted));
}

size_t Field::length(size_t min, size_t max) const {
  if (value_ == nullptr || !value_->is_array()) {
    of_type("a list");
    return 0;
  }
  const size_t count = value_->size();
  if (count >= min && count <= max) return count;
  wrong(fmt::format("has {} elements, and must have from {} to {}", count, min, max));
  return 0;
}

Field Field::element(size_t index) const {
  return {&(*value_)[index], fmt::format("{}[{}]", place_, index), error_};
}

}  // namespace tunesmith
