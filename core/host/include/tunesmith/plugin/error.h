// What goes wrong with a plugin: it cannot be loaded, or it broke its contract.
#pragma once

#include <string>

#include "tunesmith/plugin/kind.h"
#include "tunesmith/support/error.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// A plugin file is not acceptable, or a plugin threw. `what()` names the plugin, its file where that
/// matters, the rule of docs/plugin-rules.md as "[P3]", both sides of every difference, and the remedy.
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

/// "module 'auto_inline'": how messages name a plugin.
std::string plugin_name(PluginKind kind, std::string_view id);

}  // namespace tunesmith
#pragma GCC visibility pop
