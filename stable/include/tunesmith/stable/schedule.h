// Schedules: a program and the trace of its transformations. A transformation proves that the program keeps
// its meaning, or throws ScheduleError and leaves the schedule unchanged.
#pragma once

#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tunesmith/stable/analysis.h"
#include "tunesmith/stable/primitives.h"
#include "tunesmith/stable/program.h"

namespace tunesmith {
inline namespace stable {

// ---- Tensor intrinsics as data: instructions of a processor, of which `tensorize` makes calls by name ----

/// An operand of an intrinsic.
struct TensorOperand {
  Buffer buffer;       // its shape and type
  std::string scope;   // the required memory scope; "": any except `register`
  std::string layout;  // how a group's members hold it; a call can read another's result only in this layout
  int64_t alignment = 1;  // of the address of its first element, in bytes
};

/// A tensor intrinsic; it computes one block with one store.
struct TensorIntrinsic {
  explicit TensorIntrinsic(const tunesmith_intrinsic& from)
      : name(detail::view(from.name)),
        level(detail::view(from.level)),
        reads(detail::accesses_in(from.reads)),
        writes(detail::accesses_in(from.writes)),
        copies(from.copies != 0),
        bulk_copy(from.bulk_copy != 0) {
    for (uint64_t i = 0; i < from.operands.count; ++i) {
      const auto& operand = detail::element<tunesmith_operand>(from.operands, i);
      operands.push_back({make_buffer(*operand.buffer), std::string(detail::view(operand.scope)),
                          std::string(detail::view(operand.layout)), operand.alignment});
    }
    for (uint64_t i = 0; i < from.iterators.count; ++i) {
      const auto& iterator = detail::element<tunesmith_iterator>(from.iterators, i);
      iters.push_back({static_cast<IterKind>(iterator.kind), iterator.extent});
    }
  }

  struct Iterator {
    IterKind kind;
    int64_t extent;
  };

  std::string name;
  std::string level;  // the level whose groups execute a call together; "": each iteration executes a call
  std::vector<TensorOperand> operands;  // the output, then the inputs
  std::vector<Iterator> iters;
  std::vector<Access> reads;  // over `iters`, like read_accesses() and write_accesses() of a block
  std::vector<Access> writes;
  bool copies;     // does it copy elements unchanged?
  bool bulk_copy;  // does one iteration issue the copy for all, and does it complete asynchronously?

  /// The extents, outermost first.
  std::vector<int64_t> extents(IterKind kind) const {
    std::vector<int64_t> found;
    for (const Iterator& iter : iters) {
      if (iter.kind == kind) found.push_back(iter.extent);
    }
    return found;
  }
  bool has_reduction() const { return !extents(IterKind::Reduction).empty(); }
};

namespace detail {

inline std::vector<TensorIntrinsic> intrinsics_of(const tunesmith_context* context,
                                                  std::string_view extension) {
  tunesmith_span span = {};
  check(tables.intrinsic->of_extension(context, text(extension), &span));
  std::vector<TensorIntrinsic> found;
  for (uint64_t i = 0; i < span.count; ++i) found.emplace_back(element<tunesmith_intrinsic>(span, i));
  return found;
}

inline std::optional<TensorIntrinsic> intrinsic_named(const tunesmith_schedule* schedule,
                                                      std::string_view name) {
  const tunesmith_intrinsic* found = nullptr;
  check(tables.intrinsic->find(schedule, text(name), &found));
  if (found == nullptr) return std::nullopt;
  return TensorIntrinsic(*found);
}

}  // namespace detail

/// A block without its body.
struct BlockFacts {
  BlockId id{};
  std::string name;
  bool has_init = false;
  bool has_reduction = false;
  size_t nest = 0;   // the root's statement that contains it
  size_t loops = 0;  // number of loops around it, up to the enclosing block or the root
};

/// A loop without its body.
struct LoopFacts {
  explicit LoopFacts(const tunesmith_loop_facts& known)
      : id(LoopId{known.id}), extent(known.extent), kind(static_cast<LoopKind>(known.kind)), use(known.use) {
    if (known.only_child != 0) only_child = static_cast<StmtKind>(known.only_child);
  }

  LoopId id;
  int64_t extent;
  LoopKind kind;
  LoopUse use;                         // of the block in the question, or of all blocks below the loop
  std::optional<StmtKind> only_child;  // the kind of the loop's only child; nothing if there are several
};

/// Not thread-safe; clone() gives an independent schedule. primitives.h has its instructions.
class Schedule : public Primitives {
 public:
  using AnnotationArg = stable::AnnotationArg;

  /// Takes ownership.
  explicit Schedule(tunesmith_schedule* taken) : Primitives(taken) {}
  Schedule(Schedule&& other) noexcept
      : Primitives(std::exchange(other.handle_, nullptr)), snapshots_(std::move(other.snapshots_)) {}
  /// Views of the old schedule stay valid.
  Schedule& operator=(Schedule&& other) noexcept {
    if (this == &other) return *this;
    for (const auto& snapshot : snapshots_) snapshot->program = nullptr;
    std::move(other.snapshots_.begin(), other.snapshots_.end(), std::back_inserter(snapshots_));
    other.snapshots_.clear();
    detail::tables.schedule->release(std::exchange(handle_, std::exchange(other.handle_, nullptr)));
    return *this;
  }
  ~Schedule() {
    snapshots_.clear();
    detail::tables.schedule->release(handle_);
  }

  Schedule clone() const {
    tunesmith_schedule* copy = nullptr;
    detail::check(detail::tables.schedule->clone(handle_, &copy));
    return Schedule(copy);
  }

  /// The current program; views of it do not change later. The first read after a change takes some
  /// microseconds; the functions below need no snapshot, for finishing modules that query between
  /// transformations.
  Program program() const {
    const tunesmith_program* now = detail::tables.schedule->program(handle_);
    const tunesmith_snapshot* read = nullptr;
    detail::check(detail::tables.program->read(now, &read));
    auto snapshot = std::make_unique<detail::Snapshot>(read, now);
    if (snapshots_.empty() || snapshots_.back()->data != read) snapshots_.push_back(std::move(snapshot));
    return Program(*snapshots_.back());
  }
  Block block(BlockRV rv) const { return *program().find_block(id(rv)); }
  Loop loop(LoopRV rv) const { return *program().find_loop(location(rv)); }

  // ---- Values of handles ----

  int64_t value(IntRV rv) const {
    int64_t number = 0;
    detail::check(detail::tables.schedule->integer(handle_, rv.index, &number));
    return number;
  }
  BlockId id(BlockRV rv) const {
    uint32_t id = 0;
    detail::check(detail::tables.schedule->block(handle_, rv.index, &id));
    return BlockId{id};
  }
  /// May return kRootLocation or kInlineLocation.
  LoopId location(LoopRV rv) const {
    uint32_t id = 0;
    detail::check(detail::tables.schedule->loop(handle_, rv.index, &id));
    return LoopId{id};
  }

  // ---- Facts that need no snapshot of the program ----

  LoopFacts facts(LoopRV rv) const {
    tunesmith_loop_facts known = {};
    known.size = sizeof(known);
    detail::check(detail::tables.program->loop(handle(), static_cast<uint32_t>(location(rv)), &known));
    return LoopFacts(known);
  }
  /// The facts of the loops of get_loops(), in that order.
  std::vector<LoopFacts> loops_of(BlockRV block) const {
    tunesmith_span span = {};
    detail::check(detail::tables.program->loops(handle(), static_cast<uint32_t>(id(block)), &span));
    std::vector<LoopFacts> found;
    for (uint64_t i = 0; i < span.count; ++i)
      found.emplace_back(detail::element<tunesmith_loop_facts>(span, i));
    return found;
  }
  LoopUse use_of(LoopRV loop, BlockRV block) const {
    return detail::use_of(handle(), static_cast<uint32_t>(location(loop)), static_cast<uint32_t>(id(block)));
  }
  int64_t store_stride(BlockRV block, LoopRV loop) const {
    int64_t stride = 0;
    detail::check(detail::tables.program->store_stride(handle(), static_cast<uint32_t>(id(block)),
                                                       static_cast<uint32_t>(location(loop)), &stride));
    return stride;
  }
  std::vector<Access> read_accesses(BlockRV block) const {
    return detail::accesses(handle(), static_cast<uint32_t>(id(block)), TUNESMITH_ACCESS_SORT_READ_ACCESSES);
  }
  std::vector<Access> writes_of(BlockRV block) const {
    return detail::accesses(handle(), static_cast<uint32_t>(id(block)), TUNESMITH_ACCESS_SORT_WRITES);
  }
  std::vector<Access> write_accesses(BlockRV block) const {
    return detail::accesses(handle(), static_cast<uint32_t>(id(block)), TUNESMITH_ACCESS_SORT_WRITE_ACCESSES);
  }
  /// The maximum extent of the loops that are bound to the axis, "<level>.<axis>", in the nest at the root
  /// that contains the block; 0 if there is none.
  int64_t axis_extent(BlockId block, std::string_view axis) const {
    int64_t extent = 0;
    detail::check(detail::tables.program->axis_extent(handle(), static_cast<uint32_t>(block),
                                                      detail::text(axis), &extent));
    return extent;
  }
  /// All blocks, in text order.
  std::vector<BlockFacts> blocks() const {
    tunesmith_span span = {};
    detail::check(detail::tables.program->blocks(handle(), &span));
    std::vector<BlockFacts> found;
    for (uint64_t i = 0; i < span.count; ++i) {
      const auto& known = detail::element<tunesmith_block_facts>(span, i);
      found.push_back({BlockId{known.id}, std::string(detail::view(known.name)), known.has_init != 0,
                       known.has_reduction != 0, known.nest, known.loops});
    }
    return found;
  }
  /// An integer annotation of the program or of a block; nothing if there is none with this key, or it is not
  /// an integer.
  std::optional<int64_t> annotation(std::string_view key) const {
    return annotation(TUNESMITH_SITE_PROGRAM, 0, key);
  }
  std::optional<int64_t> annotation(BlockId block, std::string_view key) const {
    return annotation(TUNESMITH_SITE_BLOCK, static_cast<uint32_t>(block), key);
  }

  bool has_annotation(BlockId block, std::string_view key) const {
    return value_of(TUNESMITH_SITE_BLOCK, static_cast<uint32_t>(block), key).tag != TUNESMITH_TAG_NONE;
  }
  bool has_annotation(LoopId loop, std::string_view key) const {
    return value_of(TUNESMITH_SITE_LOOP, static_cast<uint32_t>(loop), key).tag != TUNESMITH_TAG_NONE;
  }

  /// The intrinsic that tensorize() finds by this name; nothing if there is none.
  std::optional<TensorIntrinsic> intrinsic(std::string_view name) const {
    return detail::intrinsic_named(handle_, name);
  }

  /// Transfers ownership to the caller.
  tunesmith_schedule* release() { return std::exchange(handle_, nullptr); }

 private:
  const tunesmith_program* handle() const { return detail::tables.schedule->program(handle_); }

  tunesmith_value value_of(uint32_t site, uint32_t id, std::string_view key) const {
    tunesmith_value value = {};
    detail::check(detail::tables.program->annotation(handle(), site, id, detail::text(key), &value));
    return value;
  }
  std::optional<int64_t> annotation(uint32_t site, uint32_t id, std::string_view key) const {
    const tunesmith_value value = value_of(site, id, key);
    return value.tag == TUNESMITH_TAG_INTEGER ? std::optional(value.as.integer) : std::nullopt;
  }

  mutable std::vector<std::unique_ptr<detail::Snapshot>>
      snapshots_;  // all snapshots that were read: views point into them
};

}  // namespace stable
}  // namespace tunesmith
