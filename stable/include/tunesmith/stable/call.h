// Calling instructions of a schedule by their names.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "tunesmith/stable/error.h"

namespace tunesmith {
inline namespace stable {

/// Handles into one schedule and its clones: variables of the trace.
struct TraceVar {
  uint32_t index = 0;
  bool operator==(const TraceVar&) const = default;
};
struct BlockRV : TraceVar {};
struct LoopRV : TraceVar {};
struct IntRV : TraceVar {};

/// A number that is either written in the trace or a variable of it.
using IntArg = std::variant<int64_t, IntRV>;
using AnnotationArg = std::variant<int64_t, double, std::string_view, IntRV>;

namespace detail {

/// The name of an instruction, as a template's argument.
template <size_t size>
struct Name {
  char text[size];
  constexpr Name(const char (&from)[size]) { std::copy_n(from, size, text); }  // NOLINT: "fuse" must do
  constexpr std::string_view view() const { return {text, size - 1}; }
};

/// An argument, with what its value points to.
struct Argument {
  tunesmith_value value = {};
  std::vector<tunesmith_value> items = {};

  Argument(std::nullptr_t) {}                                                   // NOLINT: nothing
  Argument(TraceVar variable) { set(TUNESMITH_TAG_VARIABLE, variable.index); }  // NOLINT
  Argument(int64_t number) { set(TUNESMITH_TAG_INTEGER, number); }              // NOLINT
  Argument(int number) : Argument(int64_t{number}) {}                           // NOLINT
  Argument(bool yes) { set(TUNESMITH_TAG_BOOLEAN, yes ? 1 : 0); }               // NOLINT
  Argument(double number) {                                                     // NOLINT
    value.tag = TUNESMITH_TAG_REAL;
    value.as.real = number;
  }
  Argument(std::string_view string) {  // NOLINT
    value.tag = TUNESMITH_TAG_TEXT;
    value.count = static_cast<uint32_t>(string.size());
    value.as.text = string.data();
  }
  Argument(const std::string& string) : Argument(std::string_view(string)) {}  // NOLINT
  Argument(const char* string) : Argument(std::string_view(string)) {}         // NOLINT
  template <typename... Alternatives>
  Argument(const std::variant<Alternatives...>& any) {  // NOLINT
    std::visit([this](const auto& held) { value = Argument(held).value; }, any);
  }
  template <typename T>
  Argument(const std::optional<T>& maybe) {  // NOLINT
    if (maybe) value = Argument(*maybe).value;
  }
  template <typename T>
  Argument(const std::vector<T>& list) {  // NOLINT
    items.reserve(list.size());
    for (const auto& item : list) items.push_back(Argument(item).value);
    value.tag = TUNESMITH_TAG_LIST;
    value.count = static_cast<uint32_t>(items.size());
    value.as.list = items.data();
  }

 private:
  void set(uint32_t tag, int64_t integer) {
    value.tag = tag;
    value.as.integer = integer;
  }
};

inline const tunesmith_kind* find_kind(std::string_view name) {
  const tunesmith_kind* found = tables.schedule->kind(text(name));
  if (found == nullptr) throw UnsupportedError("this kernel has no instruction '" + std::string(name) + "'");
  return found;
}

template <typename Result>
Result results_as(tunesmith_variables results) {
  if constexpr (std::is_base_of_v<TraceVar, Result>) {
    if (results.count != 1) throw InternalError("the instruction has another number of results");
    return Result{{results.first}};
  } else if constexpr (!std::is_void_v<Result>) {
    Result all;
    all.reserve(results.count);
    for (uint32_t i = 0; i < results.count; ++i)
      all.push_back(typename Result::value_type{{results.first + i}});
    return all;
  }
}

}  // namespace detail

/// What the typed functions of a schedule are made of.
class InstructionCalls {
 public:
  /// Executes an instruction of any name and records it, also of one that these headers do not know;
  /// arguments in the order of docs/schedule.md. `Result`: BlockRV, LoopRV, IntRV, a vector of them, or void.
  template <typename Result = void, typename... Args>
  Result call(std::string_view name, const Args&... args) {
    return call<Result>(detail::find_kind(name), args...);
  }

  /// Executes an instruction with the arguments that it was read with (trace.h).
  std::vector<TraceVar> execute(const tunesmith_kind* kind, const std::vector<tunesmith_value>& arguments) {
    tunesmith_variables results = {};
    detail::check(detail::tables.schedule->call(handle_, kind, arguments.data(), arguments.size(), &results));
    return detail::results_as<std::vector<TraceVar>>(results);
  }

 protected:
  explicit InstructionCalls(tunesmith_schedule* schedule) : handle_(schedule) {}

  /// Looked up once in a process.
  template <detail::Name name>
  static const tunesmith_kind* kind() {
    static const tunesmith_kind* const found = detail::find_kind(name.view());
    return found;
  }

  template <typename Result = void, typename... Args>
  Result call(const tunesmith_kind* kind, const Args&... args) {
    tunesmith_variables results = {};
    if constexpr (sizeof...(args) == 0) {
      detail::check(detail::tables.schedule->call(handle_, kind, nullptr, 0, &results));
    } else {
      const detail::Argument arguments[] = {detail::Argument(args)...};
      tunesmith_value values[sizeof...(args)];
      std::transform(std::begin(arguments), std::end(arguments), values,
                     [](const detail::Argument& argument) { return argument.value; });
      detail::check(detail::tables.schedule->call(handle_, kind, values, sizeof...(args), &results));
    }
    return detail::results_as<Result>(results);
  }

  tunesmith_schedule* handle_;
};

}  // namespace stable
}  // namespace tunesmith
