// Errors of plugins: a plugin cannot be loaded, or it broke its contract.
#pragma once

#include <string>

#include "tunesmith/plugin/kind.h"
#include "tunesmith/support/error.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// A plugin file is refused, or a plugin threw. `what()` names the plugin, its file where needed,
/// the rule of docs/plugin-rules.md as "[P3]", both sides of every difference, and the remedy.
class PluginError : public EnvironmentError {
 public:
  PluginError(PluginKind kind, std::string id, const std::string& message);
  ~PluginError() override;

  PluginKind kind() const { return kind_; }
  const std::string& id() const { return id_; }

 private:
  PluginKind kind_;
  std::string id_;
};

/// "module 'auto_inline'": a plugin's name in messages.
std::string plugin_name(PluginKind kind, std::string_view id);

}  // namespace tunesmith
#pragma GCC visibility pop
