// The kernel's tables of functions, fetched once when the plugin is loaded. For the other headers here: a
// plugin's author uses none of this.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tunesmith/stable/c/plugin.h"

#ifdef TUNESMITH_PLUGIN
#error \
    "a plugin is of the stable tier or of the exact one: <tunesmith/stable/...> does not go with <tunesmith/plugin/plugin.h>"
#endif

namespace tunesmith {
inline namespace stable {
namespace detail {

/// An element of an array of the kernel's.
template <typename T>
const T& element(const tunesmith_span& span, uint64_t position) {
  return *reinterpret_cast<const T*>(static_cast<const char*>(span.data) + position * span.stride);
}

struct Tables {
  const tunesmith_error_table* error = nullptr;
  const tunesmith_schedule_table* schedule = nullptr;
  const tunesmith_program_table* program = nullptr;
  const tunesmith_context_table* context = nullptr;
  const tunesmith_answer_table* answer = nullptr;
  const tunesmith_description_table* description = nullptr;
  const tunesmith_options_table* options = nullptr;
  const tunesmith_trace_table* trace = nullptr;
};
inline Tables tables;

/// Of a kernel that is as new as the plugin's note asks for, which the kernel has checked: every table is
/// there and as long as this plugin knows it. One that is not says so.
template <typename Table>
bool fetch(const tunesmith_host* host, std::string_view id, const Table*& table) {
  table = static_cast<const Table*>(host->table({id.data(), id.size()}));
  return table != nullptr && table->size >= sizeof(Table);
}

inline tunesmith_error* start(const tunesmith_host* host) noexcept {
  if (!fetch(host, "tunesmith.error/1", tables.error)) std::abort();  // nothing can be said without it
  const bool complete = fetch(host, "tunesmith.schedule/1", tables.schedule) &&
                        fetch(host, "tunesmith.program/1", tables.program) &&
                        fetch(host, "tunesmith.context/1", tables.context) &&
                        fetch(host, "tunesmith.answer/1", tables.answer) &&
                        fetch(host, "tunesmith.description/1", tables.description) &&
                        fetch(host, "tunesmith.options/1", tables.options) &&
                        fetch(host, "tunesmith.trace/1", tables.trace);
  if (complete) return nullptr;
  constexpr std::string_view kWhy = "the kernel's tables are shorter than its version says";
  tunesmith_error_info told = {};
  told.size = sizeof(told);
  told.kind = TUNESMITH_ERROR_KIND_UNSUPPORTED;
  told.message = {kWhy.data(), kWhy.size()};
  return tables.error->make(&told);
}

}  // namespace detail
}  // namespace stable
}  // namespace tunesmith
