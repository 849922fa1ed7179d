// One statement of the root as it is launched on a machine with levels that synchronise: which of its loops
// are the launch's, which run over threads, and who shares which buffer.
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
    size_t level = 0;  // whose groups
  };

  /// Finds the loops and gives all over one axis the same variable; calls of groups get their annotation.
  /// `program`, `facts` and `options` must outlive the launch. Throws LowerError for loops and calls that
  /// stand where they cannot be joined, or are more than the machine has.
  Launch(Program& program, BlockFacts& facts, const LowerOptions& options, Stmt& root_statement);

  /// A temporary without a scope of its own that one thread alone uses goes to the scope of a thread. Then
  /// refuses buffers that are not used as their scopes want (LowerError).
  void settle_buffers();

  const std::vector<ThreadAxis>& threads() const { return threads_; }
  /// The statement inside the loops of the launch.
  Stmt& body() { return *body_; }
  /// The outermost level that synchronises of those that loops of the launch run over.
  const std::string& thread_level() const;

  /// Does it fall apart: do loops over threads stand in it, or calls of groups beside what single threads
  /// execute, or calls that read what others in it write?
  bool falls_apart(const Stmt& stmt) const;
  /// A call in the statement, or null; one of several is like the others where it does not fall apart.
  const GroupCall* call_in(const Stmt& stmt) const;
  /// The call that the statement is or stands in, or null.
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
  /// How many levels stand around an instance of the buffer's scope.
  size_t depth_of(const Buffer& buffer) const;
  bool holds_thread_loop(const Stmt& stmt) const;
  /// The largest statement with `stmt` in it that does not fall apart.
  const Stmt& piece_of(const Stmt& stmt) const;
  /// Or by one group: in one statement without loops over threads, which one of them executes alone.
  bool used_by_one_thread(const Buffer& buffer, const Accesses& accesses) const;
  /// The iterations that loops over the axis have; a producer of its own runs none of them.
  IterDomain domain_of_loops(const ThreadAxis& thread) const;
  std::vector<IterDomain> domains_around(const Accesses& accesses) const;
  /// Axes whose loops over threads all accesses stand in, in one loop each.
  std::vector<IterDomain> common_domains(const Accesses& accesses) const;
  void move_to_thread(const Buffer& buffer);
  /// By another launch?
  bool is_used_elsewhere(const Buffer& buffer) const;
  /// Refuses what the threads, or groups, that own the buffer do not use each for themselves.
  void check_owned(const Buffer& buffer, const Accesses& accesses, size_t depth) const;
  /// Do members of a group that makes a call have to wait for others, or these for them? Which member
  /// accesses which element is not known.
  bool meets_calls(const Accesses& accesses) const;
  void check_shared(const Buffer& buffer, const Accesses& accesses) const;
  /// Of the serial loops around the pieces that the accesses stand in.
  std::vector<Var> vars_around_pieces(const Accesses& accesses) const;
  std::vector<Var> grid_vars() const;

  Program& program_;
  BlockFacts& facts_;
  const ExecutionModel& model_;
  const size_t first_thread_level_;
  std::vector<Loop*> grid_;
  std::vector<GroupCall> calls_;
  std::vector<ThreadAxis> threads_;
  bool has_producer_ = false;  // an iteration more of the first of these
  Stmt* body_;
  std::set<const BufferNode*> ordered_;
};

}  // namespace tunesmith
