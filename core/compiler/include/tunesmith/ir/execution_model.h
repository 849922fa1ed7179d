// The machine as data: its levels of parallel execution and their memories. bind()
// and set_scope() look names up here; the kernel knows no level and no scope by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tunesmith/ir/buffer.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// One level at which a machine executes iterations of loops
/// in parallel: its cores, or the parallelism inside a core.
struct ExecutionLevel {
  std::string name;
  /// A loop is bound to "<name>.<axis>"; the first axis varies fastest. Without axes no loop can be bound.
  std::vector<std::string> axes;
  std::vector<int64_t> most;  // maximum number of iterations along each of `axes`
  int64_t max_together = 0;   // maximum number of iterations along all axes together
  /// Iterations within one iteration of the enclosing level share memory and can synchronise.
  bool synchronises = false;
  /// Each iteration is a group of this many iterations of the next inner level without groups,
  /// along its first axis, which can execute one instruction together; 0 for as many as the loops
  /// are bound for. Levels with larger and smaller groups may nest; a launch uses one of them.
  int64_t group = 0;

  bool operator==(const ExecutionLevel&) const = default;
};

/// A kind of memory, which buffers name as their scope.
struct MemoryScope {
  std::string name;
  std::string owner;      // each iteration of this level has an instance; "": one instance for all
  int64_t capacity = 0;   // bytes of one instance; 0: no limit that matters
  int64_t alignment = 1;  // in bytes, of the buffers in it
  int64_t banks = 0;      // banks accessed in parallel; 0: no banks
  int64_t bank_bytes = 0;
  /// The sizes in bytes of asynchronous copies (AsyncGroup) from
  /// memory that all share into this scope; empty: none is possible.
  std::vector<int64_t> async_copy_bytes = {};

  /// The alignment of a buffer in this scope, in bytes. A buffer with a swizzle
  /// begins where its pattern begins, so that address bits correspond to offset bits.
  int64_t alignment_of(const BufferNode& buffer) const;

  bool operator==(const MemoryScope&) const = default;
};

/// A value type.
struct ExecutionModel {
  std::vector<ExecutionLevel> levels;  // outermost first
  std::vector<MemoryScope> scopes;

  /// The axis of a level that a loop is bound to.
  struct Axis {
    size_t level = 0;  // positions
    size_t axis = 0;

    auto operator<=>(const Axis&) const = default;
  };
  /// Looks up "<level>.<axis>"; nothing if the machine has no such axis.
  std::optional<Axis> find_axis(std::string_view name) const;
  std::string axis_name(const Axis& axis) const;
  /// "<level>.<axis>" of all axes.
  std::vector<std::string> axis_names() const;

  /// Null if the machine has no such scope.
  const MemoryScope* find_scope(std::string_view name) const;
  /// The number of levels down to and including the
  /// owner of the scope; 0 when one instance serves all.
  size_t depth_of(const MemoryScope& scope) const;
  /// Null if the machine has no such level.
  const ExecutionLevel* find_level(std::string_view name) const;
  /// The axis along which the members of a group of this level lie; nothing if the level has no groups.
  std::optional<Axis> group_axis(size_t level) const;
  /// The first level from which on all levels synchronise; levels.size() if the innermost does
  /// not. The levels before it are those of a launch: their iterations never wait for one another.
  size_t first_synchronising() const;

  bool operator==(const ExecutionModel&) const = default;
};

/// "", or what is wrong with a description: an unknown
/// owner, a duplicate name, an axis without a limit.
std::string execution_model_fault(const ExecutionModel& model);

/// A processor: cores, to which no loop is bound by name, and the kernel's scopes.
const ExecutionModel& host_execution();

}  // namespace tunesmith
#pragma GCC visibility pop
