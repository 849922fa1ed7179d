// One statement of the root as a launch on a machine with levels that
// synchronise: its launch loops, its thread loops, and the owners of its buffers.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "passes.h"
#include "thread_ownership.h"

namespace tunesmith {

class Launch {
 public:
  /// An axis of the levels that synchronise, over which loops of the launch run.
  struct ThreadAxis {
    ExecutionModel::Axis axis;
    std::string name;
    IterDomain domain;  // the variable that all its loops have from now on, and the largest of their extents
  };

  /// A call that all members of a group make together.
  struct GroupCall {
    Loop* loop = nullptr;
    size_t level = 0;  // the level whose groups execute it
  };

  /// Finds the loops, gives all loops over one axis the same variable, and annotates calls
  /// of groups. `program`, `facts` and `options` must outlive the launch. Throws
  /// LowerError for loops and calls that cannot be joined, or exceed the machine's limits.
  Launch(Program& program, BlockFacts& facts, const LowerOptions& options, Stmt& root_statement);

  /// Moves a temporary without explicit scope that only one thread uses to a thread's
  /// scope. Then refuses buffers whose uses violate their scopes (LowerError).
  void settle_buffers();

  const std::vector<ThreadAxis>& threads() const { return threads_; }
  /// The statement inside the loops of the launch.
  Stmt& body() { return *body_; }
  /// The outermost synchronising level of the launch's loops.
  const std::string& thread_level() const;

  /// Does the statement consist of several pieces: does it contain loops over threads, or calls of
  /// groups beside work of single threads, or calls that read what other statements in it write?
  bool falls_apart(const Stmt& stmt) const;
  /// A call in the statement, or null; all calls of a single piece are alike.
  const GroupCall* call_in(const Stmt& stmt) const;
  /// The call that is or contains the statement, or null.
  const GroupCall* call_around(const Stmt& stmt) const;
  /// The loop's position in threads().
  std::optional<size_t> thread_axis(const Loop& loop) const;
  /// Is the order of accesses by different threads of any matter? Known after settle_buffers().
  bool is_ordered(const Buffer& buffer) const { return ordered_.contains(buffer.get()); }
  /// Is its value another one for other threads, or not known before the program runs?
  bool differs_between_threads(const Expr& condition) const;
  [[noreturn]] static void refuse(std::string_view reason, const std::string& detail);

 private:
  using Accesses = std::vector<LaunchAccess>;

  void find_grid(Stmt& root_statement);
  void find_calls(const LowerOptions& options);
  void find_threads();
  /// A pipelined loop that bulk copies fill memory for gets a producer: one more group, or thread, of the
  /// outermost level of threads.
  void find_producers(const LowerOptions& options);
  /// Groups have all their members.
  void complete_groups(std::map<ExecutionModel::Axis, int64_t>& extents) const;
  void check_calls() const;
  void check_limits() const;
  Accesses accesses_of(const Buffer& buffer) const;
  /// The number of levels around an instance of the buffer's scope.
  size_t depth_of(const Buffer& buffer) const;
  bool holds_thread_loop(const Stmt& stmt) const;
  /// The largest statement with `stmt` in it that does not fall apart.
  const Stmt& piece_of(const Stmt& stmt) const;
  /// Also true for one group: used in one statement without loops over threads, which one of them executes.
  bool used_by_one_thread(const Buffer& buffer, const Accesses& accesses) const;
  /// The iterations of loops over the axis; a separate producer runs none of them.
  IterDomain domain_of_loops(const ThreadAxis& thread) const;
  std::vector<IterDomain> domains_around(const Accesses& accesses) const;
  /// The axes over which all accesses are inside a thread loop, each in a single loop.
  std::vector<IterDomain> common_domains(const Accesses& accesses) const;
  void move_to_thread(const Buffer& buffer);
  /// Does another launch use it?
  bool is_used_elsewhere(const Buffer& buffer) const;
  /// Refuses a buffer that its owners (threads or groups) do not use separately.
  void check_owned(const Buffer& buffer, const Accesses& accesses, size_t depth) const;
  /// Do members of a group that makes a call have to wait for others, or these for them? Which member
  /// accesses which element is not known.
  bool meets_calls(const Accesses& accesses) const;
  void check_shared(const Buffer& buffer, const Accesses& accesses) const;
  /// The variables of the serial loops around the pieces with the accesses.
  std::vector<Var> vars_around_pieces(const Accesses& accesses) const;
  std::vector<Var> grid_vars() const;

  Program& program_;
  BlockFacts& facts_;
  const ExecutionModel& model_;
  const size_t first_thread_level_;
  std::vector<Loop*> grid_;
  std::vector<GroupCall> calls_;
  std::vector<ThreadAxis> threads_;
  bool has_producer_ = false;  // one more iteration of the first of these
  Stmt* body_;
  std::set<const BufferNode*> ordered_;
};

}  // namespace tunesmith
