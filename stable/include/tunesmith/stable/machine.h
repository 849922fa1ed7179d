// The machine as data: named quantities, the levels at which it executes loops, and its memories.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tunesmith/stable/error.h"

namespace tunesmith {
inline namespace stable {

/// A machine as named quantities ("cores", "vector_bits"); docs/targets.md lists them.
class DeviceModel {
 public:
  explicit DeviceModel(const tunesmith_context* context) : context_(context) {}

  std::optional<double> find(std::string_view name) const {
    if (detail::tables.context->has_quantity(context_, detail::text(name)) == 0) return std::nullopt;
    return get(name);
  }
  /// Throws EnvironmentError naming the quantity when the target does not give it.
  double get(std::string_view name) const {
    double value = 0.0;
    detail::check(detail::tables.context->quantity(context_, detail::text(name), &value));
    return value;
  }
  double get_or(std::string_view name, double fallback) const { return find(name).value_or(fallback); }

 private:
  const tunesmith_context* context_;
};

/// One level of a machine that executes iterations of loops at once, such as its cores.
struct ExecutionLevel {
  std::string name;
  std::vector<std::string> axes;  // a loop is bound to "<level>.<axis>"; the first varies fastest
  std::vector<int64_t> most;      // iterations along each axis at most
  int64_t max_together = 0;       // along all axes
  /// Those within one iteration of the level around share memory and may wait for one another.
  bool synchronises = false;
  /// Each of its iterations is a group of so many of the first level inside that has no groups; 0: of as many
  /// as loops are bound for.
  int64_t group = 0;
};

/// A kind of memory. Buffers name it as their scope.
struct MemoryScope {
  std::string name;
  std::string owner;      // the level each iteration of which has one of its own; "": there is one for all
  int64_t capacity = 0;   // bytes of one instance; 0: no limit that a program could meet
  int64_t alignment = 1;  // bytes: where buffers in it begin
  int64_t banks = 0;      // that are accessed at once; 0: it has none
  int64_t bank_bytes = 0;
  std::vector<int64_t> async_copy_bytes = {};  // copies of so many bytes may arrive later
};

struct ExecutionModel {
  ExecutionModel() = default;
  explicit ExecutionModel(const tunesmith_execution& from) {
    for (uint64_t i = 0; i < from.levels.count; ++i) {
      const auto& level = detail::element<tunesmith_level>(from.levels, i);
      ExecutionLevel& made = levels.emplace_back();
      made.name = detail::view(level.name);
      for (uint64_t axis = 0; axis < level.axis_count; ++axis)
        made.axes.emplace_back(detail::view(level.axes[axis]));
      made.most.assign(level.axis_limits, level.axis_limits + level.axis_count);
      made.max_together = level.limit;
      made.synchronises = level.synchronises != 0;
      made.group = level.group;
    }
    for (uint64_t i = 0; i < from.scopes.count; ++i) {
      const auto& scope = detail::element<tunesmith_scope>(from.scopes, i);
      scopes.push_back({std::string(detail::view(scope.name)),
                        std::string(detail::view(scope.owner)),
                        scope.capacity,
                        scope.alignment,
                        scope.banks,
                        scope.bank_bytes,
                        {scope.async_copy_bytes, scope.async_copy_bytes + scope.async_copy_count}});
    }
  }

  std::vector<ExecutionLevel> levels;  // outermost first
  std::vector<MemoryScope> scopes;

  struct Axis {
    size_t level = 0;
    size_t axis = 0;
  };
  std::string axis_name(const Axis& axis) const {
    return levels[axis.level].name + "." + levels[axis.level].axes[axis.axis];
  }
  /// Null when the machine has none of this name.
  const MemoryScope* find_scope(std::string_view name) const {
    for (const MemoryScope& scope : scopes) {
      if (scope.name == name) return &scope;
    }
    return nullptr;
  }
  /// How many levels stand around what an instance of the scope serves: 0 when there is one for all.
  size_t depth_of(const MemoryScope& scope) const {
    for (size_t i = 0; i < levels.size(); ++i) {
      if (levels[i].name == scope.owner) return i + 1;
    }
    return 0;
  }
  /// The first level from which on all synchronise; levels.size() when the innermost does not.
  size_t first_synchronising() const {
    size_t first = levels.size();
    while (first > 0 && levels[first - 1].synchronises) --first;
    return first;
  }
};

}  // namespace stable
}  // namespace tunesmith
