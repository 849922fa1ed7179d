// The kinds of plugins, and the interface that each kind implements.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#pragma GCC visibility push(default)
namespace tunesmith {

class TransformationModule;  // <tunesmith/space/module.h>
class Target;                // <tunesmith/target/target.h>
class TargetExtension;       // <tunesmith/target/target.h>
class Searcher;              // <tunesmith/search/searcher.h>
class CostModel;             // <tunesmith/search/cost_model.h>
class TaskScheduler;         // <tunesmith/search/task_scheduler.h>
class Importer;              // <tunesmith/network/importer.h>, of the library network
class MeasuringPlace;        // <tunesmith/measuring/measuring_place.h>, of the library measuring

/// Stored in plugin files: the meaning of a number never changes.
enum class PluginKind : uint32_t {
  Module = 1,
  Target = 2,
  Extension = 3,
  Searcher = 4,
  CostModel = 5,
  TaskScheduler = 6,
  Importer = 7,
  Runner = 8
};

inline constexpr std::array kPluginKinds = {
    PluginKind::Module,    PluginKind::Target,        PluginKind::Extension, PluginKind::Searcher,
    PluginKind::CostModel, PluginKind::TaskScheduler, PluginKind::Importer,  PluginKind::Runner};

/// "module", "target", "extension", "searcher", "cost_model", "task_scheduler", "importer" or "runner": the
/// word in manifests and messages.
std::string_view kind_name(PluginKind kind);

/// The kind of that name, or nothing.
std::optional<PluginKind> kind_from_name(std::string_view name);

/// PluginInterface<kind>::type is the class that a plugin of this kind derives from.
template <PluginKind kind>
struct PluginInterface;
template <>
struct PluginInterface<PluginKind::Module> {
  using type = TransformationModule;
};
template <>
struct PluginInterface<PluginKind::Target> {
  using type = Target;
};
template <>
struct PluginInterface<PluginKind::Extension> {
  using type = TargetExtension;
};
template <>
struct PluginInterface<PluginKind::Searcher> {
  using type = Searcher;
};
template <>
struct PluginInterface<PluginKind::CostModel> {
  using type = CostModel;
};
template <>
struct PluginInterface<PluginKind::TaskScheduler> {
  using type = TaskScheduler;
};
template <>
struct PluginInterface<PluginKind::Importer> {
  using type = Importer;
};
template <>
struct PluginInterface<PluginKind::Runner> {
  using type = MeasuringPlace;
};

/// The kind whose interface is `Interface`.
template <typename Interface>
inline constexpr PluginKind kKindOf = [] {
  if constexpr (std::is_same_v<Interface, TransformationModule>) return PluginKind::Module;
  if constexpr (std::is_same_v<Interface, Target>) return PluginKind::Target;
  if constexpr (std::is_same_v<Interface, TargetExtension>) return PluginKind::Extension;
  if constexpr (std::is_same_v<Interface, Searcher>) return PluginKind::Searcher;
  if constexpr (std::is_same_v<Interface, CostModel>) return PluginKind::CostModel;
  if constexpr (std::is_same_v<Interface, TaskScheduler>) return PluginKind::TaskScheduler;
  if constexpr (std::is_same_v<Interface, Importer>) return PluginKind::Importer;
  if constexpr (std::is_same_v<Interface, MeasuringPlace>) return PluginKind::Runner;
}();

}  // namespace tunesmith
#pragma GCC visibility pop
