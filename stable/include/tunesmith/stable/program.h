// Programs for reading: views into snapshots. A view is a small value. It shows the program at the time of
// the call, and lives as long as the Schedule that it came from (or the Schedule that this was moved into); a
// view from a ModuleContext lives as long as the call.
//
//   const Block block = *schedule.program().find_block(name);
//   const bool chooses = any_of_exprs(block, [](const Expr& part) { return part.is(ExprKind::Select); });
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tunesmith/stable/view.h"

namespace tunesmith {
inline namespace stable {

enum class StmtKind : uint32_t {
  Seq = TUNESMITH_STATEMENT_KIND_SEQUENCE,
  Loop = TUNESMITH_STATEMENT_KIND_LOOP,
  Block = TUNESMITH_STATEMENT_KIND_BLOCK,
  Store = TUNESMITH_STATEMENT_KIND_STORE,
  If = TUNESMITH_STATEMENT_KIND_IF
};

enum class LoopKind : uint32_t {
  Serial = TUNESMITH_LOOP_KIND_SERIAL,
  Parallel = TUNESMITH_LOOP_KIND_PARALLEL,
  Vectorized = TUNESMITH_LOOP_KIND_VECTORIZED,
  Unrolled = TUNESMITH_LOOP_KIND_UNROLLED,
  Bound = TUNESMITH_LOOP_KIND_BOUND
};

enum class IterKind : uint32_t {
  Spatial = TUNESMITH_ITERATOR_KIND_SPATIAL,
  Reduction = TUNESMITH_ITERATOR_KIND_REDUCTION,
  Opaque = TUNESMITH_ITERATOR_KIND_OPAQUE
};

class Stmt {
 public:
  Stmt(const detail::Snapshot& snapshot, uint32_t position)
      : kind(static_cast<StmtKind>(snapshot.statement(position).kind)),
        parent(&snapshot, snapshot.statement(position).parent),
        snapshot_(&snapshot),
        position_(position) {}

  StmtKind kind;
  Pointer<Stmt> parent;

  template <typename T>
  Pointer<T> as() const {
    return kind == T::kKind ? Pointer<T>(snapshot_, position_) : Pointer<T>();
  }
  /// Direct children, in order; those of a block are its init, if any, and its body.
  std::vector<Pointer<Stmt>> children() const {
    std::vector<Pointer<Stmt>> all;
    for (uint32_t i = 0; i < data().children.count; ++i) all.push_back(child(i));
    return all;
  }
  const detail::Snapshot& snapshot() const { return *snapshot_; }
  Pointer<Stmt> pointer() const { return {snapshot_, position_}; }

 protected:
  const tunesmith_statement& data() const { return snapshot_->statement(position_); }
  Pointer<Stmt> child(uint32_t i) const {
    if (i >= data().children.count) return nullptr;
    return {snapshot_, snapshot_->link(data().children.first + i)};
  }
  Expr expr(uint32_t position) const { return {snapshot_, position}; }

  const detail::Snapshot* snapshot_;
  uint32_t position_;
};

/// A sequence of statements.
class Seq : public Stmt {
 public:
  static constexpr StmtKind kKind = StmtKind::Seq;
  using Stmt::Stmt;
};

class Loop : public Stmt {
 public:
  static constexpr StmtKind kKind = StmtKind::Loop;
  Loop(const detail::Snapshot& snapshot, uint32_t position)
      : Stmt(snapshot, position),
        id(LoopId{data().id}),
        loop_kind(static_cast<LoopKind>(data().loop_kind)),
        thread(detail::view(data().name)),
        annotations(snapshot_, data().annotations) {}

  LoopId id;
  LoopKind loop_kind;
  std::string_view thread;  // the axis of a bound loop
  Annotations annotations;

  Var var() const;
  Expr min() const { return expr(data().minimum); }
  Expr extent() const { return expr(data().extent); }
  int64_t const_extent() const {
    if (const std::optional<int64_t> constant = extent().as_int()) return *constant;
    throw InternalError("the extent of a loop is not constant");
  }
  Pointer<Stmt> body() const { return child(0); }
};

/// A variable that runs over [0, extent), bound to an expression over the enclosing loops.
struct IterVar {
  Var var;
  int64_t extent = 1;
  IterKind kind = IterKind::Spatial;
  Expr binding;
};

class Block : public Stmt {
 public:
  static constexpr StmtKind kKind = StmtKind::Block;
  Block(const detail::Snapshot& snapshot, uint32_t position)
      : Stmt(snapshot, position),
        id(BlockId{data().id}),
        name(detail::view(data().name)),
        annotations(snapshot_, data().annotations) {}

  BlockId id;
  std::string name;
  Annotations annotations;

  std::vector<IterVar> iters() const;
  Expr predicate() const { return expr(data().condition); }
  Pointer<Stmt> init() const { return data().init != 0 ? child(0) : nullptr; }
  Pointer<Stmt> body() const { return child(data().init != 0 ? 1 : 0); }
  bool has_reduction() const {
    for (const IterVar& iter : iters()) {
      if (iter.kind == IterKind::Reduction) return true;
    }
    return false;
  }
};

/// buffer[indices] = value, if the mask is null or true.
class Store : public Stmt {
 public:
  static constexpr StmtKind kKind = StmtKind::Store;
  using Stmt::Stmt;
  Buffer buffer() const;
  std::vector<Expr> indices() const {
    std::vector<Expr> all;
    const tunesmith_range range = data().indices;
    for (uint32_t i = 0; i < range.count; ++i) all.push_back(expr(snapshot_->link(range.first + i)));
    return all;
  }
  Expr value() const { return expr(data().value); }
  Expr mask() const { return expr(data().condition); }
};

/// A program at the time of the call.
class Program {
 public:
  explicit Program(const detail::Snapshot& snapshot)
      : name(detail::view(snapshot.data->name)),
        annotations(&snapshot, snapshot.data->program_annotations),
        snapshot_(&snapshot) {}

  std::string name;
  Annotations annotations;

  Seq root() const { return {*snapshot_, 0}; }
  Pointer<Block> find_block(std::string_view block_name) const {
    return find<Block>(
        [&](const tunesmith_statement& each) { return detail::view(each.name) == block_name; });
  }
  Pointer<Block> find_block(BlockId id) const {
    return find<Block>([&](const tunesmith_statement& each) { return BlockId{each.id} == id; });
  }
  Pointer<Loop> find_loop(LoopId id) const {
    return find<Loop>([&](const tunesmith_statement& each) { return LoopId{each.id} == id; });
  }
  /// All blocks in text order.
  std::vector<Pointer<Block>> blocks() const {
    std::vector<Pointer<Block>> all;
    for (uint32_t i = 0; i < snapshot_->data->statements.count; ++i) {
      if (snapshot_->statement(i).kind == TUNESMITH_STATEMENT_KIND_BLOCK) all.emplace_back(snapshot_, i);
    }
    return all;
  }
  /// Inputs, outputs and intermediates.
  std::vector<Buffer> buffers() const {
    std::vector<Buffer> all;
    for (uint64_t i = 0; i < snapshot_->data->buffers.count; ++i)
      all.push_back(make_buffer(detail::element<tunesmith_buffer>(snapshot_->data->buffers, i)));
    return all;
  }

 private:
  template <typename T, typename Test>
  Pointer<T> find(Test test) const {
    for (uint32_t i = 0; i < snapshot_->data->statements.count; ++i) {
      const tunesmith_statement& each = snapshot_->statement(i);
      if (static_cast<StmtKind>(each.kind) == T::kKind && test(each)) return {snapshot_, i};
    }
    return nullptr;
  }

  const detail::Snapshot* snapshot_;
};

inline Var Loop::var() const { return detail::var_at(*snapshot_, data().variable); }
inline Buffer Store::buffer() const { return detail::buffer_at(*snapshot_, data().buffer); }
inline std::vector<IterVar> Block::iters() const {
  std::vector<IterVar> all;
  for (uint32_t i = 0; i < data().iterators.count; ++i) {
    const auto& each =
        detail::element<tunesmith_iterator>(snapshot_->data->iterators, data().iterators.first + i);
    all.push_back({detail::var_at(*snapshot_, each.variable), each.extent, static_cast<IterKind>(each.kind),
                   expr(each.binding)});
  }
  return all;
}

// ---- The reads and writes of blocks, and their indices over iterators ----

/// An index of an access, along one dimension of its buffer.
struct AccessIndex {
  explicit AccessIndex(const tunesmith_index& from) : used(from.used, from.used + from.used_count) {
    if (from.form == TUNESMITH_INDEX_FORM_ITERATOR) iterator = from.iterator;
    if (from.form == TUNESMITH_INDEX_FORM_CONSTANT) constant = from.constant;
  }

  std::optional<size_t> iterator;  // set if the index is just this iterator of Block::iters()
  std::optional<int64_t> constant;
  std::vector<size_t> used;  // positions of the iterators that occur in it, ascending

  bool uses(size_t of) const { return std::ranges::find(used, of) != used.end(); }
};

/// One access of a block.
struct Access {
  explicit Access(const tunesmith_access& from) : buffer(make_buffer(*from.buffer)) {
    for (uint64_t i = 0; i < from.indices.count; ++i)
      indices.emplace_back(detail::element<tunesmith_index>(from.indices, i));
  }

  Buffer buffer;
  std::vector<AccessIndex> indices;

  /// Does the index depend on this iterator of Block::iters()?
  bool uses(size_t iterator) const {
    return std::ranges::any_of(indices, [&](const AccessIndex& index) { return index.uses(iterator); });
  }
};

namespace detail {
inline std::vector<Access> accesses_in(const tunesmith_span& span) {
  std::vector<Access> found;
  for (uint64_t i = 0; i < span.count; ++i) found.emplace_back(element<tunesmith_access>(span, i));
  return found;
}
inline std::vector<Access> accesses(const tunesmith_program* program, uint32_t block, uint32_t sort) {
  tunesmith_span span = {};
  check(tables.analysis->accesses(program, block, sort, &span));
  return accesses_in(span);
}
inline std::vector<Access> accesses(const Block& block, uint32_t sort) {
  return accesses(block.snapshot().program, static_cast<uint32_t>(block.id), sort);
}
}  // namespace detail

/// Loads in the body and the init without the accumulator, and stores in the body, each once. If the block
/// contains blocks, the indices are over its own iterators.
inline std::vector<Access> reads_of(const Block& block) {
  return detail::accesses(block, TUNESMITH_ACCESS_SORT_READS);
}
inline std::vector<Access> writes_of(const Block& block) {
  return detail::accesses(block, TUNESMITH_ACCESS_SORT_WRITES);
}
/// In the order of the instructions' `read_index` and `write_index`; indices as in the text.
inline std::vector<Access> read_accesses(const Block& block) {
  return detail::accesses(block, TUNESMITH_ACCESS_SORT_READ_ACCESSES);
}
inline std::vector<Access> write_accesses(const Block& block) {
  return detail::accesses(block, TUNESMITH_ACCESS_SORT_WRITE_ACCESSES);
}

}  // namespace stable
}  // namespace tunesmith
