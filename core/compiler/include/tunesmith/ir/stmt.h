// Statements: a mutable tree with parent links, owned from the root down. A tree
// belongs to one thread at a time; expressions are shared, so cloning a tree
// copies only nodes. lowered_stmt.h has the statements that only lowering makes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tunesmith/ir/expr.h"

#pragma GCC visibility push(default)
namespace tunesmith {

enum class StmtKind : uint8_t {
  Seq,
  Loop,
  Block,
  Store,
  If,
  Allocate,
  Barrier,
  AsyncGroup,
  AsyncWait,
  Handover
};

/// Annotations of a loop, a block or the program, for modules and targets. Ordered by key.
using AnnotationValue = std::variant<int64_t, double, std::string>;
using Annotations = std::map<std::string, AnnotationValue>;

/// Identifies blocks and loops within one program; kept by clone(), never reused.
enum class BlockId : uint32_t {};
enum class LoopId : uint32_t {};

class Stmt;
using StmtPtr = std::unique_ptr<Stmt>;

class Stmt {
 public:
  virtual ~Stmt();
  Stmt(const Stmt&) = delete;
  Stmt& operator=(const Stmt&) = delete;

  const StmtKind kind;
  /// The statement that owns this one; null at the root.
  Stmt* parent = nullptr;

  /// A deep copy without a parent; ids and expressions are kept.
  virtual StmtPtr clone() const = 0;

  template <typename T>
  T* as() {
    return kind == T::kKind ? static_cast<T*>(this) : nullptr;
  }
  template <typename T>
  const T* as() const {
    return kind == T::kKind ? static_cast<const T*>(this) : nullptr;
  }

 protected:
  explicit Stmt(StmtKind k) : kind(k) {}
};

/// A sequence of statements. Never directly inside another Seq.
class Seq final : public Stmt {
 public:
  static constexpr StmtKind kKind = StmtKind::Seq;
  Seq() : Stmt(kKind) {}
  explicit Seq(std::vector<StmtPtr> statements);
  StmtPtr clone() const override;

  const std::vector<StmtPtr>& children() const { return children_; }
  void insert(size_t position, StmtPtr statement);
  void append(StmtPtr statement) { insert(children_.size(), std::move(statement)); }
  StmtPtr remove(size_t position);
  /// The position of a direct child.
  size_t index_of(const Stmt& child) const;

 private:
  friend StmtPtr replace(Stmt& at, StmtPtr with);
  std::vector<StmtPtr> children_;
};

enum class LoopKind : uint8_t {
  Serial,
  Parallel,    // iterations on any thread, in any order
  Vectorized,  // one vector operation for all iterations
  Unrolled,    // emitted once for each iteration
  Bound        // to the axis `thread`, "<level>.<axis>", of one of the target's levels
};
std::string_view loop_kind_name(LoopKind kind);

/// for var in [min, min + extent). In a schedule, min is 0
/// and the extent a constant; lowering may tighten both.
class Loop final : public Stmt {
 public:
  static constexpr StmtKind kKind = StmtKind::Loop;
  Loop(LoopId loop_id, Var variable, Expr min_value, Expr extent_value, StmtPtr loop_body);
  StmtPtr clone() const override;

  LoopId id;
  Var var;
  Expr min;
  Expr extent;
  LoopKind loop_kind = LoopKind::Serial;
  std::string thread;
  Annotations annotations;

  Stmt* body() const { return body_.get(); }
  void set_body(StmtPtr statement);
  StmtPtr take_body();
  /// Throws InternalError if the extent is not constant, which is possible only after lowering.
  int64_t const_extent() const;

 private:
  friend StmtPtr replace(Stmt& at, StmtPtr with);
  StmtPtr body_;
};

enum class IterKind : uint8_t {
  Spatial,    // iterations are independent and write different elements
  Reduction,  // iterations accumulate into the same element
  Opaque      // unknown: order and number of iterations must be kept
};
std::string_view iter_kind_name(IterKind kind);

/// A variable that runs over [0, extent).
struct IterDomain {
  Var var;
  int64_t extent = 1;
};

/// An iteration variable of a block.
struct IterVar {
  Var var;
  int64_t extent = 1;  // the domain is [0, extent)
  IterKind kind = IterKind::Spatial;
};

/// A block as in the TensorIR and MetaSchedule papers: iteration variables with domains, bound to expressions
/// of the enclosing loops. Instances whose predicate is false do not run; `init` runs before the first
/// reduction iteration of each spatial instance. Reads and writes are derived from the body (ir/regions.h).
class Block final : public Stmt {
 public:
  static constexpr StmtKind kKind = StmtKind::Block;
  Block(BlockId block_id, std::string block_name, std::vector<IterVar> iteration_vars,
        std::vector<Expr> binds, StmtPtr init_stmt, StmtPtr block_body);
  StmtPtr clone() const override;

  BlockId id;
  std::string name;
  std::vector<IterVar> iters;
  std::vector<Expr> bindings;  // one for each of iters
  Expr predicate;              // over the enclosing loops; constant true if there is none
  Annotations annotations;

  Stmt* init() const { return init_.get(); }
  void set_init(StmtPtr statement);
  StmtPtr take_init();
  Stmt* body() const { return body_.get(); }
  void set_body(StmtPtr statement);
  StmtPtr take_body();

  bool has_reduction() const;
  /// The position of the iteration variable, or -1.
  int iter_index(const Var& var) const;
  /// Maps the iteration variables to `values`, one for each: the substitution for one instance.
  Substitution iters_at(std::span<const Expr> values) const;

 private:
  friend StmtPtr replace(Stmt& at, StmtPtr with);
  StmtPtr init_;
  StmtPtr body_;
};

/// buffer[indices] = value where `mask` is null or true. One index for each dimension, or one offset
/// after lowering. The constructor broadcasts indices, value and mask to the widest number of lanes.
class Store final : public Stmt {
 public:
  static constexpr StmtKind kKind = StmtKind::Store;
  Store(Buffer to, std::vector<Expr> at, Expr stored_value, Expr store_mask = {});
  StmtPtr clone() const override;

  Buffer buffer;
  std::vector<Expr> indices;
  Expr value;
  Expr mask;
};

class If final : public Stmt {
 public:
  static constexpr StmtKind kKind = StmtKind::If;
  If(Expr if_condition, StmtPtr then_body, StmtPtr else_body = nullptr);
  StmtPtr clone() const override;

  Expr condition;
  Stmt* then_case() const { return then_.get(); }
  Stmt* else_case() const { return else_.get(); }
  void set_then(StmtPtr statement);
  void set_else(StmtPtr statement);

 private:
  friend StmtPtr replace(Stmt& at, StmtPtr with);
  StmtPtr then_;
  StmtPtr else_;
};

/// Replaces `at` by `with` and returns the old statement. A Seq inserted into
/// a Seq is spliced; a null `with` removes `at` from its Seq (which may become
/// empty), and is otherwise allowed only for a block's init and an If's else.
StmtPtr replace(Stmt& at, StmtPtr with);

void substitute_in(Stmt& stmt, const Substitution& map);
/// Replaces `from` by `to` in loads, stores and its Allocate, with the same indices.
void replace_buffer_in(Stmt& stmt, const Buffer& from, const Buffer& to);

/// Enclosing loops from the outermost to the innermost, up to the nearest enclosing block or the root.
std::vector<Loop*> loops_above(const Stmt& stmt);
/// The nearest enclosing block, or null.
Block* enclosing_block(const Stmt& stmt);
/// Is `ancestor` the statement itself or one of its parents?
bool is_ancestor(const Stmt& ancestor, const Stmt& stmt);

}  // namespace tunesmith
#pragma GCC visibility pop
