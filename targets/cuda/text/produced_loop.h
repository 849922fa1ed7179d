// A loop whose iterations are Handovers: its parts, and what
// the text of barriers in memory needs to know about it.
#pragma once

#include <optional>
#include <string>

#include "tunesmith/ir/lowered_stmt.h"

namespace tunesmith::cuda {

bool has_producer(const Loop& loop);

/// Registers of a thread after the groups of a block have shared them out anew.
struct SharedRegisters {
  int64_t of_producer, of_consumer;
};

/// Of a block with one warpgroup that copies and `consumers` that compute; nothing if no more than at the
/// launch are there for these.
std::optional<SharedRegisters> shared_registers(int64_t consumers);

class ProducedLoop {
 public:
  /// For a loop with has_producer(). Throws LowerError unless its consumers consist of asynchronous calls
  /// with a wait statement, the same in each iteration.
  explicit ProducedLoop(const Loop& loop);

  /// Throws LowerError unless the producer, of the threads whose statements these are, only fetches for the
  /// loop, and always does.
  void check_parts(const Stmt& body) const;

  const Loop& loop() const { return loop_; }
  const Stmt& fetch() const { return *fetch_->then_case(); }
  const Stmt& rest() const { return *rest_->then_case(); }
  int64_t versions() const { return handover_.versions; }
  /// The version that an iteration fills and reads.
  Expr version() const;
  /// Number of groups of consumers, and the condition that a thread is one of them.
  int64_t consumers() const { return consumers_; }
  const Expr& is_consumer() const { return rest_->condition; }
  /// Bytes copied per iteration.
  int64_t fetched_bytes() const { return fetched_bytes_; }
  /// Number of calls of an iteration's consumers, and the statement that waits for them.
  int64_t calls() const { return calls_; }
  const std::string& waits() const { return waits_; }
  /// Is this thread one of the producer's group; the first of all, or of its group?
  const Expr& is_producer() const { return is_producer_; }
  const Expr& first_thread() const { return first_thread_; }
  const Expr& first_of_group() const { return first_of_group_; }
  /// Two barriers per version.
  int64_t barrier_bytes() const { return 16 * versions(); }

 private:
  void find_threads();
  void count_fetched();
  void count_calls();
  bool is_for_consumers(const Stmt& stmt) const;

  const Loop& loop_;
  const Handover& handover_;
  const If* fetch_ = nullptr;
  const If* rest_ = nullptr;
  int64_t consumers_ = 0, fetched_bytes_ = 0, calls_ = 0;
  std::string waits_;
  Expr is_producer_, first_thread_, first_of_group_;
};

}  // namespace tunesmith::cuda
