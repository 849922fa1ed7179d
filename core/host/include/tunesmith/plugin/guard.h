// The one boundary at which a plugin's exceptions become errors that name it, and its time is counted.
#pragma once

#include <exception>
#include <string_view>
#include <utility>

#include "tunesmith/plugin/kind.h"
#include "tunesmith/plugin/watch.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// Rethrows what a plugin threw: PluginError as it is; UserError at its place, with the plugin's name where
/// its message has none; anything else as "module 'x': CALL threw: WHAT" in a PluginError [P12].
[[noreturn]] void rethrow_plugin_failure(PluginKind kind, std::string_view id, std::string_view call,
                                         const std::exception_ptr& failure);

/// Calls `function`, which calls the plugin's `call` ("create", "apply"). Every call into a plugin's code
/// goes through here. `given_up`: as PluginWatch takes it.
template <typename Function>
decltype(auto) guard_plugin(PluginKind kind, std::string_view id, std::string_view call, Function&& function,
                            std::atomic<bool>* given_up = nullptr) {
  const PluginWatch watch(kind, id, call, given_up);
  try {
    return std::forward<Function>(function)();
  } catch (...) {  // a stranger's code may throw what is no std::exception; it is rethrown as one
    rethrow_plugin_failure(kind, id, call, std::current_exception());
  }
}

}  // namespace tunesmith
#pragma GCC visibility pop
