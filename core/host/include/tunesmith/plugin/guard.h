// The boundary at which a plugin's exceptions become errors with its name, and its time is counted.
#pragma once

#include <exception>
#include <string_view>
#include <utility>

#include "tunesmith/plugin/kind.h"
#include "tunesmith/plugin/watch.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// Rethrows a plugin's exception: PluginError unchanged; UserError with the plugin's name
/// added if it is missing; anything else as PluginError "module 'x': CALL threw: WHAT" [P12].
[[noreturn]] void rethrow_plugin_failure(PluginKind kind, std::string_view id, std::string_view call,
                                         const std::exception_ptr& failure);

/// Calls `function`, which runs the plugin's `call` ("create", "apply").
/// Every call into a plugin goes through here. `given_up`: as in PluginWatch.
template <typename Function>
decltype(auto) guard_plugin(PluginKind kind, std::string_view id, std::string_view call, Function&& function,
                            std::atomic<bool>* given_up = nullptr) {
  const PluginWatch watch(kind, id, call, given_up);
  try {
    return std::forward<Function>(function)();
  } catch (...) {  // plugins may throw anything; it is rethrown as a PluginError
    rethrow_plugin_failure(kind, id, call, std::current_exception());
  }
}

}  // namespace tunesmith
#pragma GCC visibility pop
