#include "tunesmith/plugin/kind.h"

#include <fmt/format.h>

#include "tunesmith/plugin/error.h"

namespace tunesmith {

std::string_view kind_name(PluginKind kind) {
  switch (kind) {
    case PluginKind::Module:
      return "module";
    case PluginKind::Target:
      return "target";
    case PluginKind::Extension:
      return "extension";
    case PluginKind::Searcher:
      return "searcher";
    case PluginKind::CostModel:
      return "cost_model";
    case PluginKind::TaskScheduler:
      return "task_scheduler";
    case PluginKind::Importer:
      return "importer";
    case PluginKind::Runner:
      return "runner";
  }
  throw InternalError(fmt::format("unknown plugin kind {}", static_cast<uint32_t>(kind)));
}

std::optional<PluginKind> kind_from_name(std::string_view name) {
  for (const PluginKind kind : kPluginKinds) {
    if (kind_name(kind) == name) return kind;
  }
  return std::nullopt;
}

std::string plugin_name(PluginKind kind, std::string_view id) {
  return fmt::format("{} '{}'", kind_name(kind), id);
}

PluginError::PluginError(PluginKind kind, std::string id, const std::string& message)
    : EnvironmentError(plugin_name(kind, id) + ": " + message), kind_(kind), id_(std::move(id)) {}

PluginError::~PluginError() = default;

}  // namespace tunesmith
