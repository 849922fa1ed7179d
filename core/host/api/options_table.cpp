#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "api/handles.h"

namespace tunesmith::api {
namespace {

OptionType type_of_option(uint32_t type) {
  switch (type) {
    case TUNESMITH_OPTION_TYPE_BOOLEAN:
      return OptionType::Boolean;
    case TUNESMITH_OPTION_TYPE_INTEGER:
      return OptionType::Integer;
    case TUNESMITH_OPTION_TYPE_REAL:
      return OptionType::Real;
    case TUNESMITH_OPTION_TYPE_TEXT:
      return OptionType::String;
    case TUNESMITH_OPTION_TYPE_CHOICE:
      return OptionType::Choice;
    case TUNESMITH_OPTION_TYPE_INTEGERS:
      return OptionType::IntegerList;
    case TUNESMITH_OPTION_TYPE_TEXTS:
      return OptionType::StringList;
    default:
      throw Unsupported(fmt::format("unknown option type {}", type));
  }
}

/// An option of this type; a value with another tag gives the type's default, which is refused.
OptionValue initial_of(OptionType type, const tunesmith_value& value) {
  const auto string = [](const tunesmith_value& from) { return std::string(from.as.text, from.count); };
  switch (type) {
    case OptionType::Boolean:
      return value.as.integer != 0;
    case OptionType::Integer:
      return value.as.integer;
    case OptionType::Real:
      return value.as.real;
    case OptionType::String:
    case OptionType::Choice:
      return string(value);
    case OptionType::IntegerList: {
      std::vector<int64_t> list;
      for (uint32_t i = 0; i < value.count; ++i) list.push_back(value.as.list[i].as.integer);
      return list;
    }
    case OptionType::StringList: {
      std::vector<std::string> list;
      for (uint32_t i = 0; i < value.count; ++i) list.push_back(string(value.as.list[i]));
      return list;
    }
  }
  throw InternalError("an option has no type");
}

uint32_t tag_of(OptionType type) {
  switch (type) {
    case OptionType::Boolean:
      return TUNESMITH_TAG_BOOLEAN;
    case OptionType::Integer:
      return TUNESMITH_TAG_INTEGER;
    case OptionType::Real:
      return TUNESMITH_TAG_REAL;
    case OptionType::String:
    case OptionType::Choice:
      return TUNESMITH_TAG_TEXT;
    case OptionType::IntegerList:
    case OptionType::StringList:
      return TUNESMITH_TAG_LIST;
  }
  throw InternalError("an option has no type");
}

tunesmith_error* declare(tunesmith_option_list* list, const tunesmith_option* option) noexcept {
  return guarded([&] {
    const tunesmith_option& told = given(option, "options.declare");
    OptionSpec spec;
    spec.name = view(told.name);
    spec.help = view(told.help);
    spec.type = type_of_option(told.type);
    if (told.initial.tag != tag_of(spec.type))
      misuse("options.declare", "the initial value is of another type", spec.name);
    spec.default_value = initial_of(spec.type, told.initial);
    spec.min = told.minimum;
    spec.max = told.maximum;
    const auto* at = static_cast<const char*>(told.choices.data);
    for (uint64_t i = 0; i < told.choices.count; ++i, at += told.choices.stride)
      spec.choices.emplace_back(view(*reinterpret_cast<const tunesmith_text*>(at)));
    given(list, "options.declare").specs.push_back(std::move(spec));
  });
}

const OptionSpec& declared(const tunesmith_options* options, tunesmith_text name, std::string_view call) {
  const std::vector<OptionSpec>& specs = given(options, call).specs;
  const auto found = std::ranges::find(specs, view(name), &OptionSpec::name);
  if (found == specs.end()) misuse(call, "no such option is declared", std::string(view(name)));
  return *found;
}

template <typename Item, typename List>
tunesmith_value list_value(const tunesmith_options& options, const List& list) {
  std::vector<tunesmith_value>& items = options.lists.emplace_back();
  for (const typename List::value_type& item : list) items.push_back(value_of(Item(item)));
  tunesmith_value value = {TUNESMITH_TAG_LIST, static_cast<uint32_t>(items.size()), {}};
  value.as.list = items.data();
  return value;
}

tunesmith_value value_in(const tunesmith_options& options, const OptionSpec& spec) {
  const Options& values = *options.options;
  switch (spec.type) {
    case OptionType::Boolean: {
      tunesmith_value value = value_of(int64_t{values.get_bool(spec.name) ? 1 : 0});
      value.tag = TUNESMITH_TAG_BOOLEAN;
      return value;
    }
    case OptionType::Integer:
      return value_of(values.get_int(spec.name));
    case OptionType::Real:
      return value_of(values.get_double(spec.name));
    case OptionType::String:
    case OptionType::Choice:
      return value_of(std::string_view(values.get_string(spec.name)));
    case OptionType::IntegerList:
      return list_value<int64_t>(options, values.get_ints(spec.name));
    case OptionType::StringList:
      return list_value<std::string_view>(options, values.get_strings(spec.name));
  }
  throw InternalError("an option has no type");
}

tunesmith_error* get(const tunesmith_options* options, tunesmith_text name, tunesmith_value* value) noexcept {
  return guarded([&] {
    const OptionSpec& spec = declared(options, name, "options.get");
    given(value, "options.get") = value_in(*options, spec);
  });
}

tunesmith_error* is_set(const tunesmith_options* options, tunesmith_text name, uint32_t* set) noexcept {
  return guarded([&] {
    const OptionSpec& spec = declared(options, name, "options.is_set");
    given(set, "options.is_set") = options->options->is_set(spec.name) ? 1 : 0;
  });
}

tunesmith_error* fail(const tunesmith_options* options, tunesmith_text name,
                      tunesmith_text message) noexcept {
  return guarded([&] {
    const OptionSpec& spec = declared(options, name, "options.fail");
    options->options->fail(spec.name, std::string(view(message)));
  });
}

tunesmith_error* fail_at(const tunesmith_options* options, tunesmith_text name, uint64_t offset,
                         tunesmith_text message) noexcept {
  return guarded([&] {
    const OptionSpec& spec = declared(options, name, "options.fail_at");
    options->options->fail(spec.name, offset, std::string(view(message)));
  });
}

}  // namespace

const tunesmith_options_table k_options_table = {
    sizeof(tunesmith_options_table), declare, get, is_set, fail, fail_at};

}  // namespace tunesmith::api
