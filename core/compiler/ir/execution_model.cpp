#include "tunesmith/ir/execution_model.h"

#include <algorithm>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "tunesmith/ir/buffer.h"

namespace tunesmith {

int64_t MemoryScope::alignment_of(const BufferNode& buffer) const {
  return std::lcm(alignment, buffer.swizzle.bits == 0 ? 1 : buffer.swizzle.period() * buffer.dtype.bytes());
}

std::optional<ExecutionModel::Axis> ExecutionModel::find_axis(std::string_view name) const {
  for (size_t level = 0; level < levels.size(); ++level) {
    for (size_t axis = 0; axis < levels[level].axes.size(); ++axis) {
      if (axis_name({level, axis}) == name) return Axis{level, axis};
    }
  }
  return std::nullopt;
}

std::string ExecutionModel::axis_name(const Axis& axis) const {
  return levels.at(axis.level).name + "." + levels.at(axis.level).axes.at(axis.axis);
}

std::vector<std::string> ExecutionModel::axis_names() const {
  std::vector<std::string> names;
  for (size_t level = 0; level < levels.size(); ++level) {
    for (size_t axis = 0; axis < levels[level].axes.size(); ++axis) names.push_back(axis_name({level, axis}));
  }
  return names;
}

const MemoryScope* ExecutionModel::find_scope(std::string_view name) const {
  const auto found = std::ranges::find(scopes, name, &MemoryScope::name);
  return found == scopes.end() ? nullptr : &*found;
}

size_t ExecutionModel::depth_of(const MemoryScope& scope) const {
  if (scope.owner.empty()) return 0;
  const auto owner = std::ranges::find(levels, scope.owner, &ExecutionLevel::name);
  return static_cast<size_t>(owner - levels.begin()) + 1;
}

const ExecutionLevel* ExecutionModel::find_level(std::string_view name) const {
  const auto found = std::ranges::find(levels, name, &ExecutionLevel::name);
  return found == levels.end() ? nullptr : &*found;
}

std::optional<ExecutionModel::Axis> ExecutionModel::group_axis(size_t level) const {
  if (levels.at(level).group == 0) return std::nullopt;
  size_t inside = level + 1;
  while (levels.at(inside).group > 0) ++inside;
  return Axis{inside, 0};
}

size_t ExecutionModel::first_synchronising() const {
  size_t first = levels.size();
  while (first > 0 && levels[first - 1].synchronises) --first;
  return first;
}

std::string execution_model_fault(const ExecutionModel& model) {
  std::set<std::string> names;
  for (const ExecutionLevel& level : model.levels) {
    if (level.name.empty() || !names.insert(level.name).second)
      return fmt::format("duplicate or missing level name '{}'", level.name);
    if (level.axes.size() != level.most.size())
      return fmt::format("level '{}' has {} axes and {} limits", level.name, level.axes.size(),
                         level.most.size());
    if (!level.axes.empty() && level.max_together < 1)
      return fmt::format("level '{}' has axes and no limit of their product", level.name);
  }
  for (size_t i = 0; i < model.levels.size(); ++i) {
    const ExecutionLevel& level = model.levels[i];
    size_t inside = i + 1;
    while (inside < model.levels.size() && model.levels[inside].group > 0) ++inside;
    if (level.group < 0 || (level.group > 0 && (inside == model.levels.size() || !level.synchronises ||
                                                model.levels[inside].axes.empty())))
      return fmt::format("level '{}' has groups along an unknown axis", level.name);
  }
  std::set<std::string> scopes;
  for (const MemoryScope& scope : model.scopes) {
    if (scope.name.empty() || !scopes.insert(scope.name).second)
      return fmt::format("duplicate or missing scope name '{}'", scope.name);
    if (!scope.owner.empty() && !names.contains(scope.owner))
      return fmt::format("scope '{}' belongs to the unknown level '{}'", scope.name, scope.owner);
    if (scope.alignment < 1) return fmt::format("scope '{}' has no alignment", scope.name);
    if (std::ranges::any_of(scope.async_copy_bytes, [](int64_t bytes) { return bytes < 1; }))
      return fmt::format("scope '{}' takes asynchronous copies of no bytes", scope.name);
  }
  if (!scopes.contains(kScopeGlobal)) return fmt::format("unknown scope '{}'", kScopeGlobal);
  return "";
}

const ExecutionModel& host_execution() {
  static const ExecutionModel host{{{"core", {}, {}, 0, false}},
                                   {{kScopeGlobal, "", 0, 64, 0, 0},
                                    {kScopeLocal, "core", 0, 64, 0, 0},
                                    {kScopeRegister, "core", 0, 1, 0, 0}}};
  return host;
}

}  // namespace tunesmith
