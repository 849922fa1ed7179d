// A loop whose iterations are Handovers: its parts, and what
// the text of barriers in memory needs to know about it.
#pragma once

#include <string>

#include "tunesmith/ir/lowered_stmt.h"

namespace tunesmith::cuda {

bool has_producer(const Loop& loop);

class ProducedLoop {
 public:
  /// For a loop with has_producer(). Throws LowerError unless its consumers consist of asynchronous calls
  /// with a wait statement, the same in each iteration.
  explicit ProducedLoop(const Loop& loop);

  const If& fetch() const { return *fetch_; }
  const If& rest() const { return *rest_; }
  int64_t versions() const { return handover_.versions; }
  /// The version that an iteration fills and reads.
  Expr version() const;
  /// Number of groups of consumers.
  int64_t consumers() const { return consumers_; }
  /// Bytes copied per iteration.
  int64_t fetched_bytes() const { return fetched_bytes_; }
  /// Number of calls of an iteration's consumers, and the statement that waits for them.
  int64_t calls() const { return calls_; }
  const std::string& waits() const { return waits_; }
  /// Is this thread the first of all, or of its group?
  const Expr& first_thread() const { return first_thread_; }
  const Expr& first_of_group() const { return first_of_group_; }
  /// Two barriers per version.
  int64_t barrier_bytes() const { return 16 * versions(); }

 private:
  void find_threads();
  void count_fetched();
  void count_calls();

  const Loop& loop_;
  const Handover& handover_;
  const If* fetch_ = nullptr;
  const If* rest_ = nullptr;
  int64_t consumers_ = 0, fetched_bytes_ = 0, calls_ = 0;
  std::string waits_;
  Expr first_thread_, first_of_group_;
};

}  // namespace tunesmith::cuda
