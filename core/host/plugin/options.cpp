#include "tunesmith/plugin/options.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace tunesmith {

namespace {

// Limits beyond this magnitude are not worth printing.
constexpr double kInt64Limit = 9.2e18;

std::string range_text(double min, double max) {
  const bool low = min > -kInt64Limit;
  const bool high = max < kInt64Limit;
  if (low && high) return fmt::format(" from {} to {}", min, max);
  if (low) return fmt::format(" of at least {}", min);
  if (high) return fmt::format(" of at most {}", max);
  return {};
}

OptionSpec make(std::string name, OptionType type, OptionValue value, std::string help) {
  OptionSpec spec;
  spec.name = std::move(name);
  spec.type = type;
  spec.default_value = std::move(value);
  spec.help = std::move(help);
  return spec;
}

template <typename T>
bool parse_number(const std::string& text, T& value) {
  const char* begin = text.data();
  const char* end = begin + text.size();
  if (text.size() > 1 && *begin == '+' && begin[1] != '-') ++begin;
  const auto [stop, error] = std::from_chars(begin, end, value);
  return error == std::errc{} && stop == end && begin != end;
}

bool in_range(const OptionSpec& spec, double value) { return value >= spec.min && value <= spec.max; }

bool is_choice(const OptionSpec& spec, const std::string& value) {
  return spec.choices.empty() || std::ranges::find(spec.choices, value) != spec.choices.end();
}

bool parse_integer(const OptionSpec& spec, const RawScalar& scalar, int64_t& value) {
  return !scalar.quoted && parse_number(scalar.text, value) && in_range(spec, static_cast<double>(value));
}

bool accepts(const OptionSpec& spec, const OptionValue& value) {
  switch (spec.type) {
    case OptionType::Boolean:
      return std::holds_alternative<bool>(value);
    case OptionType::Integer: {
      const auto* number = std::get_if<int64_t>(&value);
      return number != nullptr && in_range(spec, static_cast<double>(*number));
    }
    case OptionType::Real: {
      const auto* number = std::get_if<double>(&value);
      return number != nullptr && std::isfinite(*number) && in_range(spec, *number);
    }
    case OptionType::String:
    case OptionType::Choice: {
      const auto* text = std::get_if<std::string>(&value);
      return text != nullptr && is_choice(spec, *text);
    }
    case OptionType::IntegerList: {
      const auto* list = std::get_if<std::vector<int64_t>>(&value);
      return list != nullptr &&
             std::ranges::all_of(*list, [&](int64_t v) { return in_range(spec, static_cast<double>(v)); });
    }
    case OptionType::StringList: {
      const auto* list = std::get_if<std::vector<std::string>>(&value);
      return list != nullptr &&
             std::ranges::all_of(*list, [&](const std::string& v) { return is_choice(spec, v); });
    }
  }
  return false;
}

bool is_list(OptionType type) { return type == OptionType::IntegerList || type == OptionType::StringList; }

std::string written_text(const RawOption& written) {
  switch (written.shape) {
    case RawOption::Shape::Mapping:
      return "a mapping";
    case RawOption::Shape::Null:
      return "nothing";
    case RawOption::Shape::List:
      return "a list";
    case RawOption::Shape::Scalar:
      break;
  }
  const RawScalar& scalar = written.values.front();
  return fmt::format("{}'{}'", scalar.quoted ? "the string " : "", scalar.text);
}

/// Reads one option, or throws at the value that is wrong.
OptionValue read_value(const OptionSpec& spec, const RawOption& written, const std::string& owner) {
  const auto refuse = [&](const SourceLocation& location, const std::string& got) -> void {
    std::string remedy;
    if (!spec.choices.empty() && written.shape == RawOption::Shape::Scalar) {
      const std::string near = nearest_name(written.values.front().text, spec.choices);
      if (!near.empty()) remedy = fmt::format("did you mean '{}'?", near);
    }
    throw UserError(
        location,
        fmt::format("option '{}' of {}: expected {}, got {}", spec.name, owner, spec.expected(), got),
        remedy);
  };
  const auto wanted = is_list(spec.type) ? RawOption::Shape::List : RawOption::Shape::Scalar;
  if (written.shape != wanted) refuse(written.value_location, written_text(written));

  std::vector<int64_t> integers;
  std::vector<std::string> strings;
  for (const RawScalar& scalar : written.values) {
    const std::string got = fmt::format("{}'{}'", scalar.quoted ? "the string " : "", scalar.text);
    switch (spec.type) {
      case OptionType::Boolean:
        if (scalar.quoted || (scalar.text != "true" && scalar.text != "false")) refuse(scalar.location, got);
        return scalar.text == "true";
      case OptionType::Integer: {
        int64_t value = 0;
        if (!parse_integer(spec, scalar, value)) refuse(scalar.location, got);
        return value;
      }
      case OptionType::Real: {
        double value = 0.0;
        if (scalar.quoted || !parse_number(scalar.text, value) || !std::isfinite(value) ||
            !in_range(spec, value)) {
          refuse(scalar.location, got);
        }
        return value;
      }
      case OptionType::String:
      case OptionType::Choice:
        if (!is_choice(spec, scalar.text)) refuse(scalar.location, got);
        return scalar.text;
      case OptionType::IntegerList: {
        int64_t value = 0;
        if (!parse_integer(spec, scalar, value)) refuse(scalar.location, got);
        integers.push_back(value);
        break;
      }
      case OptionType::StringList:
        if (!is_choice(spec, scalar.text)) refuse(scalar.location, got);
        strings.push_back(scalar.text);
        break;
    }
  }
  if (spec.type == OptionType::IntegerList) return integers;
  return strings;
}

}  // namespace

std::string option_text(const OptionValue& value) {
  struct Printer {
    std::string operator()(bool v) const { return v ? "true" : "false"; }
    std::string operator()(int64_t v) const { return fmt::format("{}", v); }
    std::string operator()(double v) const { return fmt::format("{}", v); }
    std::string operator()(const std::string& v) const { return v; }
    std::string operator()(const std::vector<int64_t>& v) const {
      return fmt::format("[{}]", fmt::join(v, ", "));
    }
    std::string operator()(const std::vector<std::string>& v) const {
      return fmt::format("[{}]", fmt::join(v, ", "));
    }
  };
  return std::visit(Printer{}, value);
}

OptionSpec OptionSpec::boolean(std::string name, bool default_value, std::string help) {
  return make(std::move(name), OptionType::Boolean, default_value, std::move(help));
}

OptionSpec OptionSpec::integer(std::string name, int64_t default_value, std::string help) {
  return make(std::move(name), OptionType::Integer, default_value, std::move(help));
}

OptionSpec OptionSpec::integer(std::string name, int64_t default_value, int64_t min, int64_t max,
                               std::string help) {
  OptionSpec spec = integer(std::move(name), default_value, std::move(help));
  spec.min = static_cast<double>(min);
  spec.max = static_cast<double>(max);
  return spec;
}

OptionSpec OptionSpec::real(std::string name, double default_value, std::string help) {
  return make(std::move(name), OptionType::Real, default_value, std::move(help));
}

OptionSpec OptionSpec::real(std::string name, double default_value, double min, double max,
                            std::string help) {
  OptionSpec spec = real(std::move(name), default_value, std::move(help));
  spec.min = min;
  spec.max = max;
  return spec;
}

OptionSpec OptionSpec::string(std::string name, std::string default_value, std::string help) {
  return make(std::move(name), OptionType::String, std::move(default_value), std::move(help));
}

OptionSpec OptionSpec::choice(std::string name, std::string default_value, std::vector<std::string> choices,
                              std::string help) {
  OptionSpec spec = make(std::move(name), OptionType::Choice, std::move(default_value), std::move(help));
  spec.choices = std::move(choices);
  return spec;
}

OptionSpec OptionSpec::integers(std::string name, std::vector<int64_t> default_value, int64_t min,
                                int64_t max, std::string help) {
  OptionSpec spec = make(std::move(name), OptionType::IntegerList, std::move(default_value), std::move(help));
  spec.min = static_cast<double>(min);
  spec.max = static_cast<double>(max);
  return spec;
}

OptionSpec OptionSpec::strings(std::string name, std::vector<std::string> default_value,
                               std::vector<std::string> choices, std::string help) {
  OptionSpec spec = make(std::move(name), OptionType::StringList, std::move(default_value), std::move(help));
  spec.choices = std::move(choices);
  return spec;
}

std::string OptionSpec::expected() const {
  switch (type) {
    case OptionType::Boolean:
      return "true or false";
    case OptionType::Integer:
      return "an integer" + range_text(min, max);
    case OptionType::Real:
      return "a number" + range_text(min, max);
    case OptionType::String:
      return "a string";
    case OptionType::Choice:
      return fmt::format("one of: {}", fmt::join(choices, ", "));
    case OptionType::IntegerList:
      return "a list of integers" + range_text(min, max);
    case OptionType::StringList:
      return choices.empty() ? "a list of strings" : fmt::format("a list of: {}", fmt::join(choices, ", "));
  }
  throw InternalError("an option has no type");
}

std::string check_option_specs(std::span<const OptionSpec> specs) {
  for (size_t i = 0; i < specs.size(); ++i) {
    const OptionSpec& spec = specs[i];
    if (spec.name.empty()) return fmt::format("option {} has no name", i + 1);
    for (size_t j = 0; j < i; ++j) {
      if (specs[j].name == spec.name) return fmt::format("option '{}' is declared twice", spec.name);
    }
    if (spec.help.empty()) return fmt::format("option '{}' has no line of help", spec.name);
    if (spec.type == OptionType::Choice && spec.choices.empty()) {
      return fmt::format("option '{}' has no choices", spec.name);
    }
    if (!accepts(spec, spec.default_value)) {
      return fmt::format("the default of option '{}' is {}, but it must be {}", spec.name,
                         option_text(spec.default_value), spec.expected());
    }
  }
  return {};
}

Options Options::validate(std::span<const OptionSpec> specs, std::span<const RawOption> written,
                          std::string owner, SourceLocation location) {
  Options options = defaults(specs, std::move(owner));
  options.location_ = std::move(location);
  for (const RawOption& raw : written) {
    const auto spec = std::ranges::find(specs, raw.name, &OptionSpec::name);
    if (spec == specs.end()) {
      std::vector<std::string> known;
      for (const OptionSpec& each : specs) known.push_back(each.name);
      throw UserError(raw.location, fmt::format("{} has no option '{}'", options.owner_, raw.name),
                      known.empty() ? "it has no options" : suggest(raw.name, known));
    }
    Entry& entry = options.entries_[static_cast<size_t>(spec - specs.begin())];
    if (entry.set) {
      throw UserError(raw.location, fmt::format("option '{}' of {} is given twice", raw.name, options.owner_),
                      fmt::format("first at {}", entry.location.str()));
    }
    entry.value = read_value(*spec, raw, options.owner_);
    entry.location = raw.value_location;
    entry.set = true;
    if (raw.shape == RawOption::Shape::Scalar) entry.parts = raw.values.front().parts;
  }
  return options;
}

Options Options::defaults(std::span<const OptionSpec> specs, std::string owner) {
  Options options;
  options.owner_ = std::move(owner);
  for (const OptionSpec& spec : specs) options.entries_.push_back({spec.name, spec.default_value, {}, false});
  return options;
}

const Options::Entry& Options::entry(std::string_view name) const {
  const auto found = std::ranges::find(entries_, name, &Entry::name);
  if (found == entries_.end()) throw InternalError(fmt::format("{} declares no option '{}'", owner_, name));
  return *found;
}

template <typename T>
const T& Options::get(std::string_view name) const {
  const T* value = std::get_if<T>(&entry(name).value);
  if (value == nullptr)
    throw InternalError(fmt::format("option '{}' of {} is of another type", name, owner_));
  return *value;
}

bool Options::get_bool(std::string_view name) const { return get<bool>(name); }
int64_t Options::get_int(std::string_view name) const { return get<int64_t>(name); }
double Options::get_double(std::string_view name) const { return get<double>(name); }
const std::string& Options::get_string(std::string_view name) const { return get<std::string>(name); }
const std::vector<int64_t>& Options::get_ints(std::string_view name) const {
  return get<std::vector<int64_t>>(name);
}
const std::vector<std::string>& Options::get_strings(std::string_view name) const {
  return get<std::vector<std::string>>(name);
}

SourceLocation Options::location(std::string_view name, size_t offset) const {
  const Entry& found = entry(name);
  if (found.parts.empty()) {
    SourceLocation place = found.location;
    if (place.column > 0) place.column += static_cast<int>(offset);
    return place;
  }
  auto part = found.parts.begin();
  while (part + 1 != found.parts.end() && (part + 1)->first <= offset) ++part;
  SourceLocation place = part->second;
  place.column += static_cast<int>(offset - std::min(offset, part->first));
  return place;
}

bool Options::is_set(std::string_view name) const { return entry(name).set; }

const SourceLocation& Options::location(std::string_view name) const {
  const Entry& found = entry(name);
  return found.set ? found.location : location_;
}

void Options::fail(std::string_view name, const std::string& message) const {
  throw UserError(location(name), fmt::format("option '{}' of {}: {}", name, owner_, message));
}

void Options::fail(std::string_view name, size_t offset, const std::string& message) const {
  throw UserError(location(name, offset), fmt::format("option '{}' of {}: {}", name, owner_, message));
}

std::string Options::str() const {
  std::string text;
  for (const Entry& each : entries_) {
    if (!text.empty()) text += ' ';
    text += each.name + '=' + option_text(each.value);
  }
  return text;
}

}  // namespace tunesmith
