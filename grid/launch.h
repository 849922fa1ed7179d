// Analyses one statement of the root as a launch on a machine with levels that synchronise: its launch loops,
// its thread loops, and the owners of its buffers.
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
    IterDomain domain;  // the common variable of its loops, and the largest of their extents
  };

  /// A call that all members of a group execute together.
  struct GroupCall {
    Loop* loop = nullptr;
    size_t level = 0;  // the level whose groups execute it
  };

  /// Finds the loops, gives all loops over one axis the same variable, and annotates calls
  /// of groups. `program`, `facts` and `options` must outlive the launch. Throws
  /// LowerError for loops and calls that cannot be joined, or exceed the machine's limits.
  Launch(Program& program, BlockFacts& facts, const LowerOptions& options, Stmt& root_statement);

  /// Moves a temporary without explicit scope that only one thread uses to a thread's scope. Then throws
  /// LowerError if the uses of a buffer violate its scope.
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
  /// Does the order of accesses by different threads matter? Known after settle_buffers().
  bool is_ordered(const Buffer& buffer) const { return ordered_.contains(buffer.get()); }
  /// May its value differ between threads, or is it unknown before the program runs?
  bool differs_between_threads(const Expr& condition) const;
  [[noreturn]] static void refuse(std::string_view reason, const std::string& detail);

 private:
  using Accesses = std::vector<LaunchAccess>;

  void find_grid(Stmt& root_statement);
  void find_calls(const LowerOptions& options);
  void find_threads();
  /// Gives a pipelined loop with bulk copies a producer: one more group, or thread, of the outermost level of
  /// threads.
  void find_producers(const LowerOptions& options);
  /// Adds the axes of group members that no loop is bound to. Throws LowerError if a loop over members has
  /// another extent.
  void complete_groups(std::map<ExecutionModel::Axis, int64_t>& extents) const;
  void check_calls() const;
  void check_limits() const;
  Accesses accesses_of(const Buffer& buffer) const;
  /// The number of levels around an instance of the buffer's scope.
  size_t depth_of(const Buffer& buffer) const;
  bool holds_thread_loop(const Stmt& stmt) const;
  /// The largest statement containing `stmt` that does not fall apart.
  const Stmt& piece_of(const Stmt& stmt) const;
  /// Is it used in just one statement without thread loops, which one thread, or group, executes?
  bool used_by_one_thread(const Buffer& buffer, const Accesses& accesses) const;
  /// The iterations of loops over the axis; a separate producer runs none of them.
  IterDomain domain_of_loops(const ThreadAxis& thread) const;
  std::vector<IterDomain> domains_around(const Accesses& accesses) const;
  /// The axes over which all accesses are inside a thread loop, each in a single loop.
  std::vector<IterDomain> common_domains(const Accesses& accesses) const;
  void move_to_thread(const Buffer& buffer);
  /// Does another launch use it?
  bool is_used_elsewhere(const Buffer& buffer) const;
  /// Throws LowerError if the buffer's owners (threads or groups) do not use it separately.
  void check_owned(const Buffer& buffer, const Accesses& accesses, size_t depth) const;
  /// Must the members of a calling group wait for other threads, or these for them? It is unknown which
  /// member accesses which element.
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
  bool has_producer_ = false;  // threads_.front() has an additional iteration
  Stmt* body_;
  std::set<const BufferNode*> ordered_;
};

}  // namespace tunesmith
