// Statements that only lowering creates: allocations and synchronisation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tunesmith/ir/stmt.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// The buffer exists, uninitialised, while the body runs.
class Allocate final : public Stmt {
 public:
  static constexpr StmtKind kKind = StmtKind::Allocate;
  Allocate(Buffer what, StmtPtr inner);
  StmtPtr clone() const override;

  Buffer buffer;
  /// The offset in its scope's memory in bytes, once planned. Buffers
  /// of one launch may overlap: writing one destroys the others.
  std::optional<int64_t> offset;
  Stmt* body() const { return body_.get(); }
  void set_body(StmtPtr statement);
  StmtPtr take_body();

 private:
  friend StmtPtr replace(Stmt& at, StmtPtr with);
  StmtPtr body_;
};

/// A barrier for all iterations of the enclosing loops that are bound to `level` or to
/// an inner level. Iterations of loops further outside do not wait for one another.
class Barrier final : public Stmt {
 public:
  static constexpr StmtKind kKind = StmtKind::Barrier;
  explicit Barrier(std::string of_level) : Stmt(kKind), level(std::move(of_level)) {}
  StmtPtr clone() const override;

  const std::string level;
};

/// Stores that may complete asynchronously, until an AsyncWait. Each iteration of
/// the enclosing loops makes one group. Until the wait, nothing may access what
/// they store, and nothing may write what they read. The body contains only stores.
class AsyncGroup final : public Stmt {
 public:
  static constexpr StmtKind kKind = StmtKind::AsyncGroup;
  explicit AsyncGroup(StmtPtr inner);
  StmtPtr clone() const override;

  Stmt* body() const { return body_.get(); }
  void set_body(StmtPtr statement);

 private:
  friend StmtPtr replace(Stmt& at, StmtPtr with);
  StmtPtr body_;
};

/// Waits until all but the latest `pending` groups of this thread have completed. Other threads see the data
/// after a later Barrier.
class AsyncWait final : public Stmt {
 public:
  static constexpr StmtKind kKind = StmtKind::AsyncWait;
  explicit AsyncWait(int64_t still_pending) : Stmt(kKind), pending(still_pending) {}
  StmtPtr clone() const override;

  const int64_t pending;
};

/// One iteration of a loop with a producer and consumers: all execute `produce`,
/// synchronise as at a Barrier, execute `consume`, and synchronise again; conditions
/// inside select who does which. `produce` stores to `versions` places in turn and reads
/// nothing that `consume` stores, so a target may run it that many iterations ahead. The
/// last iteration of the loop bound to `axis` ("<level>.<axis>") only produces.
class Handover final : public Stmt {
 public:
  static constexpr StmtKind kKind = StmtKind::Handover;
  Handover(std::string along, int64_t places, StmtPtr producing, StmtPtr consuming);
  StmtPtr clone() const override;

  const std::string axis;
  const int64_t versions;
  /// The level of the axis, whose iterations synchronise.
  std::string level() const { return axis.substr(0, axis.rfind('.')); }
  Stmt* produce() const { return produce_.get(); }
  Stmt* consume() const { return consume_.get(); }

 private:
  friend StmtPtr replace(Stmt& at, StmtPtr with);
  StmtPtr produce_;
  StmtPtr consume_;
};

/// The Handover that is the loop's body, possibly inside sequences of one statement; else null.
const Handover* handover_of(const Loop& loop);

}  // namespace tunesmith
#pragma GCC visibility pop
