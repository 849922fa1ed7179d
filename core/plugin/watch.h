// Rule P22: every call returns. A thread that hangs in a plugin cannot be ended, so the process is, by name.
#pragma once

#include <chrono>
#include <string_view>

#include "tunesmith/plugin/kind.h"

namespace tunesmith {

/// While it lives, a call into the plugin is under way. What the arguments refer to outlives it. Thread-safe.
class PluginWatch {
 public:
  PluginWatch(PluginKind kind, std::string_view id, std::string_view call);
  ~PluginWatch();
  PluginWatch(const PluginWatch&) = delete;
  PluginWatch& operator=(const PluginWatch&) = delete;

 private:
  PluginKind kind_;
  std::string_view id_;
  std::string_view call_;
  std::chrono::steady_clock::time_point since_;
  PluginWatch* previous_ = nullptr;
  PluginWatch* next_ = nullptr;
  bool watched_ = false;
  friend class Watchman;
};

}  // namespace tunesmith
