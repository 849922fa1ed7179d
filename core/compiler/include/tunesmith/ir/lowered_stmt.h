// Statements that only lowering makes: memory that exists for a while, and what iterations that run at once
// wait for.
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
  /// Where it begins in its scope's memory, in bytes, once that is planned. Buffers of one launch may share
  /// bytes: what is written to one is no more in the others.
  std::optional<int64_t> offset;
  Stmt* body() const { return body_.get(); }
  void set_body(StmtPtr statement);
  StmtPtr take_body();

 private:
  friend StmtPtr replace(Stmt& at, StmtPtr with);
  StmtPtr body_;
};

/// All iterations of the loops around it that are bound to `level`, or to a level inside it, come here before
/// any continues; those of loops further out do not wait for one another.
class Barrier final : public Stmt {
 public:
  static constexpr StmtKind kKind = StmtKind::Barrier;
  explicit Barrier(std::string of_level) : Stmt(kKind), level(std::move(of_level)) {}
  StmtPtr clone() const override;

  const std::string level;
};

/// Stores that may complete later, at the AsyncWait that waits for them. One iteration of the loops around
/// makes one group of them. Until the wait, no access may touch what they store, and no store what they read.
/// The body contains stores alone.
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

/// All but the latest `pending` of the groups that this iteration of the loops around has stored have
/// arrived. Others see them behind a Barrier after it.
class AsyncWait final : public Stmt {
 public:
  static constexpr StmtKind kKind = StmtKind::AsyncWait;
  explicit AsyncWait(int64_t still_pending) : Stmt(kKind), pending(still_pending) {}
  StmtPtr clone() const override;

  const int64_t pending;
};

/// One iteration of a loop in which one produces what the others consume: all execute `produce`, meet as at a
/// Barrier, execute `consume`, and meet again; conditions inside say who does which. What `produce` stores
/// goes to `versions` places by turn, and nothing that `consume` stores is read by it: a target may let it
/// run up to so many iterations ahead. The last iteration of the loop bound to `axis` ("<level>.<axis>") only
/// produces.
class Handover final : public Stmt {
 public:
  static constexpr StmtKind kKind = StmtKind::Handover;
  Handover(std::string along, int64_t places, StmtPtr producing, StmtPtr consuming);
  StmtPtr clone() const override;

  const std::string axis;
  const int64_t versions;
  /// Of the axis: whose iterations meet.
  std::string level() const { return axis.substr(0, axis.rfind('.')); }
  Stmt* produce() const { return produce_.get(); }
  Stmt* consume() const { return consume_.get(); }

 private:
  friend StmtPtr replace(Stmt& at, StmtPtr with);
  StmtPtr produce_;
  StmtPtr consume_;
};

/// What the loop's body is, alone or through sequences of one statement, where it is one; else null.
const Handover* handover_of(const Loop& loop);

}  // namespace tunesmith
#pragma GCC visibility pop
