// The machine as data: the levels at which it executes loops and the memories that these levels have. What
// bind() and set_scope() name is looked up here; the kernel knows no level and no scope by its name.
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

/// One level of a machine that executes iterations of loops at once: its cores, or what each of them runs at
/// once.
struct ExecutionLevel {
  std::string name;
  /// A loop is bound to "<name>.<axis>"; the first varies fastest. None: to nothing.
  std::vector<std::string> axes;
  std::vector<int64_t> most;  // iterations along each axis at most, one for each of `axes`
  int64_t max_together = 0;   // iterations along all axes together at most
  /// Those within one iteration of the level around share memory and may wait for one another.
  bool synchronises = false;
  /// Each of its iterations is a group of so many of the first level inside that has no groups, along that
  /// one's first axis, which can execute one instruction together; 0: of as many as loops are bound for.
  /// Levels of larger and of smaller groups may stand inside one another; a launch uses one of them.
  int64_t group = 0;

  bool operator==(const ExecutionLevel&) const = default;
};

/// A kind of memory. Buffers name it as their scope.
struct MemoryScope {
  std::string name;
  std::string owner;      // the level each iteration of which has one of its own; "": there is one for all
  int64_t capacity = 0;   // bytes of one instance; 0: no limit that a program could meet
  int64_t alignment = 1;  // bytes: where buffers in it begin
  int64_t banks = 0;      // that are accessed at once; 0: it has none
  int64_t bank_bytes = 0;
  /// Copies of so many bytes from memory that all share may arrive in it after the thread that makes them
  /// continues (AsyncGroup). Empty: none may.
  std::vector<int64_t> async_copy_bytes = {};

  /// Bytes: where the buffer begins in it. One with a swizzle begins where its pattern does, so that bits of
  /// an address stand for those of an offset.
  int64_t alignment_of(const BufferNode& buffer) const;

  bool operator==(const MemoryScope&) const = default;
};

/// A value.
struct ExecutionModel {
  std::vector<ExecutionLevel> levels;  // outermost first
  std::vector<MemoryScope> scopes;

  /// What a loop is bound to.
  struct Axis {
    size_t level = 0;  // positions
    size_t axis = 0;

    auto operator<=>(const Axis&) const = default;
  };
  /// Of "<level>.<axis>"; nothing when the machine has none of this name.
  std::optional<Axis> find_axis(std::string_view name) const;
  std::string axis_name(const Axis& axis) const;
  /// "<level>.<axis>" of all.
  std::vector<std::string> axis_names() const;

  /// Null when the machine has none of this name.
  const MemoryScope* find_scope(std::string_view name) const;
  /// How many levels stand around what an instance of the scope serves: 0 when there is one for all, levels
  /// up to and including the owner's else.
  size_t depth_of(const MemoryScope& scope) const;
  /// Null when the machine has none of this name.
  const ExecutionLevel* find_level(std::string_view name) const;
  /// The axis along which the members of a group of the level lie; nothing where the level has no groups.
  std::optional<Axis> group_axis(size_t level) const;
  /// The first level from which on all synchronise; levels.size() when the innermost does not. The levels
  /// before it are those of a launch, whose iterations never wait for one another.
  size_t first_synchronising() const;

  bool operator==(const ExecutionModel&) const = default;
};

/// What is wrong with a description, or "": an owner that is no level, two of one name, an axis without its
/// limit.
std::string execution_model_fault(const ExecutionModel& model);

/// Of a processor: cores, to which no loop is bound by name, and the kernel's own scopes.
const ExecutionModel& host_execution();

}  // namespace tunesmith
#pragma GCC visibility pop
