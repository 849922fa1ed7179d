// Runs a ProgramCode. Every statement is executed for a set of lanes, each with its own values
// of the variables: one lane outside vectorized loops, all iterations of the loop inside.
#pragma once

#include <deque>
#include <span>
#include <string>
#include <vector>

#include "interp/code.h"
#include "interp/storage.h"
#include "tunesmith/ir/lowered_stmt.h"
#include "tunesmith/verification/interpreter.h"

namespace tunesmith::interp {

class Machine {
 public:
  Machine(const ProgramCode& code, size_t inputs, const InterpretOptions& options);

  Storage& storage(size_t slot) { return storages_[slot]; }
  void run();
  /// Throws when an element of the buffer was never written.
  void check_complete(size_t slot) const;

 private:
  using Values = const int64_t*;  // of the variables, by slot
  using Lanes = std::span<int64_t* const>;

  /// Identifies the group whose first member is iteration i: kGroups - i.
  static constexpr int64_t kGroups = -1000;

  /// A parallel or bound loop that is being executed, or the threads that meet at barriers.
  struct Level {
    uint64_t epoch;
    int64_t iteration;
    const std::vector<bool>* own;
  };
  struct Write {
    size_t offset;
    int64_t int_value;
    double float_value;
  };

  /// A store that has not arrived.
  struct Arrival {
    size_t slot;
    Write write;
  };
  using Group = std::vector<Arrival>;
  /// Asynchronous stores of one iteration of the concurrent loops, the oldest group first.
  using Groups = std::deque<Group>;

  void execute(const StmtCode& stmt, Lanes lanes);
  void async_group(const StmtCode& stmt, Lanes lanes);
  void async_wait(const AsyncWait& wait, Values values);
  /// Performs the lanes' writes now.
  void arrive(size_t slot, const Write& write, bool is_float, Values values);
  void check_arrived(const Storage& storage, Values values) const;
  void loop(const StmtCode& stmt, Lanes lanes);
  /// Executes a statement for all members of a group together.
  void together(const StmtCode& stmt, Lanes lanes);
  void vectorized_loop(const StmtCode& stmt, Lanes lanes);
  void block(const StmtCode& stmt, Lanes lanes);
  void branch(const StmtCode& stmt, Lanes lanes);
  void store(const StmtCode& stmt, Lanes lanes);
  void check_distinct(const Storage& target, Values values);
  // Iterations of bound loops that synchronise at barriers (threads.cpp).
  struct Threads;
  /// Does the loop run over iterations that synchronise at barriers inside it?
  static bool begins_threads(const StmtCode& stmt);
  void run_threads(const StmtCode& stmt, int64_t* lane);
  void run_together(std::span<const StmtCode> stmts, Threads& threads);
  void run_together(const StmtCode& stmt, Threads& threads);
  void add_axis(const StmtCode& stmt, Threads& threads);
  void run_own(std::span<const StmtCode> stmts, Threads& threads);
  void together_around(const StmtCode& stmt, Threads& threads);
  void together_on_one_side(const StmtCode& stmt, Threads& threads);
  void together_with_own(const StmtCode& stmt, Threads& threads);
  /// Between enter() and leave(), `thread` is the running one.
  void enter(Threads& threads, size_t thread);
  void leave(Threads& threads, size_t thread);
  void pass_barrier();

  /// Executes `stmt` for the lanes in which `test` holds.
  template <typename Test>
  void execute_where(const StmtCode& stmt, Lanes lanes, const Test& test);

  int64_t eval_int(const ExprCode& expr, Values values, int lane);
  double eval_float(const ExprCode& expr, Values values, int lane);
  bool eval_bool(const ExprCode& expr, Values values, int lane) { return eval_int(expr, values, lane) != 0; }
  int64_t cast_to_int(const ExprCode& expr, Values values, int lane);
  double cast_to_float(const ExprCode& expr, Values values, int lane);
  /// The storage and offset that a load reads; false if its mask is false.
  bool locate(const ExprCode& expr, Values values, int lane, Storage** from, size_t* offset);
  /// Row-major position of the indices, which are checked against the shape.
  size_t offset_of(const Storage& target, std::span<const ExprCode> indices, Values values, int lane);

  /// Returns the offset after checking that its element exists.
  size_t existing(const Storage& target, size_t offset, Values values) const;

  void note_read(Storage& from, size_t slot, size_t offset, Values values);
  void note_write(Storage& to, size_t slot, size_t offset, Values values);
  // Checks only the order of accesses by concurrent iterations.
  void touch_to_read(Storage& from, size_t slot, size_t offset, Values values);
  void touch_to_write(Storage& to, size_t slot, size_t offset, Values values);
  /// Checks that an access to bytes shared with this element of
  /// another buffer is ordered with accesses of that element.
  void check_ordered(Storage& other, size_t offset, bool writes, Values values);
  /// Calls `visit(Storage&, offset)` for existing elements of other buffers that share a byte with this one.
  template <typename Visit>
  void for_each_sharing(size_t slot, size_t offset, const Visit& visit);

  [[noreturn]] void fail(const std::string& what, Values values) const;
  static std::string name_of(int64_t iteration);
  static std::string element(const Storage& target, size_t offset);

  const ProgramCode& code_;
  const InterpretOptions options_;
  std::vector<Storage> storages_;
  std::vector<int64_t> variables_;
  std::vector<Level> levels_;
  std::vector<Write> writes_;    // writes of the current store
  Groups groups_;                // asynchronous stores of the current iteration
  Group* collecting_ = nullptr;  // the group that stores go to
  uint64_t epoch_ = 0;
  const StmtCode* current_ = nullptr;
};

}  // namespace tunesmith::interp
