// A schedule: a program and the trace of what was done to it. Every transformation proves that the program
// keeps its meaning, or throws ScheduleError and leaves the schedule as it was. What each requires is written
// at its declaration; docs/schedule.md has an example of each.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "tunesmith/analysis/schedule_error.h"
#include "tunesmith/ir/program.h"
#include "tunesmith/support/random.h"
#include "tunesmith/trace/handles.h"
#include "tunesmith/trace/instruction.h"
#include "tunesmith/trace/trace.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// A sampling instruction that was executed, with the domain it met.
struct SamplingPoint {
  size_t position = 0;  // in the trace
  const SamplingKind* kind = nullptr;
  SamplingDomain domain;
};

/// Belongs to one thread at a time. clone() gives an independent one.
class Schedule {
 public:
  /// Owns a clone of `program`. Sampling draws from `random`. tensorize() knows `intrinsics` by name: those
  /// of a space (Space::intrinsics()), or null for the process's (TensorIntrinsics::global()), among which
  /// the last that was read has the name.
  explicit Schedule(const Program& program, RandomStream random = RandomStream(0),
                    std::shared_ptr<const TensorIntrinsics> intrinsics = nullptr);
  Schedule(Schedule&&) noexcept;
  Schedule& operator=(Schedule&&) noexcept;
  ~Schedule();

  Schedule clone() const;

  const Program& program() const { return program_; }
  const Trace& trace() const { return trace_; }
  /// Those that tensorize() knows by name.
  const TensorIntrinsics& intrinsics() const;
  /// Of the searchable part of the trace.
  const std::vector<SamplingPoint>& sampling_points() const { return points_; }
  /// Puts the marker into the trace: from here on is what finishing modules do, which search must not change.
  /// Refused the second time.
  void enter_finishing();
  void reseed(RandomStream random) { random_ = random; }

  /// What a handle stands for now. Throws ScheduleError when the loop or block no longer exists.
  Block& block(BlockRV rv) const;
  Loop& loop(LoopRV rv) const;
  /// Without looking for the block in the program: it may be gone.
  BlockId block_id(BlockRV rv) const;
  LoopId location(LoopRV rv) const;  // may be kRootLocation or kInlineLocation
  int64_t value(IntRV rv) const;

  /// Executes one instruction of any kind and records it. The typed functions below all come here.
  /// `decision` (sampling) is repaired when it does not fit.
  std::vector<TraceVar> execute(const InstructionKind& kind, std::vector<Arg> args,
                                const std::optional<Decision>& decision = std::nullopt);

  // ---- Look-ups ----

  BlockRV get_block(std::string_view name);
  /// Loops around the block, outermost first.
  std::vector<LoopRV> get_loops(BlockRV block);
  std::vector<BlockRV> get_child_blocks(LoopRV loop);
  /// Blocks that write what this one reads / read what this one writes, in text order.
  std::vector<BlockRV> get_producers(BlockRV block);
  std::vector<BlockRV> get_consumers(BlockRV block);
  /// Blocks that write an output of the program.
  std::vector<BlockRV> get_output_blocks();
  /// A handle for a block known by id (from analysis of program()); recorded as get_block(name).
  BlockRV handle(const Block& block);

  // ---- Sampling ----

  /// One of `candidates`, with prior `probabilities` (as many, summing to 1).
  IntRV sample_categorical(std::vector<int64_t> candidates, std::vector<double> probabilities);
  /// `n` factors whose product is the loop's extent, drawn uniformly among all such tuples whose last factor
  /// is at most `max_innermost`.
  std::vector<IntRV> sample_perfect_tile(LoopRV loop, int n, int max_innermost);
  /// As above, with the product of the factors from `partition` on divisible by `inner_factor`.
  std::vector<IntRV> sample_partitioned_tile(LoopRV loop, int n, int partition, int inner_factor);
  /// One of the loops of the block's consumer at which it could be computed, the root or inlining.
  LoopRV sample_compute_location(BlockRV block);

  // ---- Loops ----

  /// Requires: one factor at most left open (nullopt), product >= extent. A product that exceeds the extent
  /// adds a predicate to the blocks inside. Answers the new loops, outermost first.
  std::vector<LoopRV> split(LoopRV loop, const std::vector<std::optional<IntArg>>& factors);
  /// Requires: each loop the only child of the one before; constant extents.
  LoopRV fuse(const std::vector<LoopRV>& loops);
  /// Loop nests that stand one directly after the other in one sequence, of equal extents down to the loops
  /// named, become one: their bodies run one after the other in each iteration. Answers the first loop.
  /// Requires: serial loops without annotations; what two of the nests touch and one writes, each iteration
  /// has to itself.
  LoopRV merge(const std::vector<LoopRV>& loops);
  /// Cuts the loop's range at `points`, which rise within it: answers one loop for each piece, each with its
  /// own copies of the blocks below (the first keeps the names). In a piece, predicates and selects that are
  /// always true or false there are gone, and the init of a reduction whose first step is elsewhere.
  /// Requires: a serial loop without annotations; below it no opaque iterator and no block with blocks
  /// inside; what a piece runs of a block is a box.
  std::vector<LoopRV> loop_partition(LoopRV loop, const std::vector<IntArg>& points);
  /// Requires: all on one chain of only children between the outermost and innermost named; blocks below with
  /// spatial or reduction iterators only, affine bindings.
  void reorder(const std::vector<LoopRV>& loops);
  /// A loop of extent 1 around the block.
  LoopRV add_unit_loop(BlockRV block);
  /// Requires: no block below carries a dependence over the loop (it binds spatial iterators only).
  void parallel(LoopRV loop);
  /// Requires: as parallel; a reduction block's initialisation must have been decomposed out of the loop.
  void vectorize(LoopRV loop);
  void unroll(LoopRV loop);
  /// To an axis of one of the target's levels, "<level>.<axis>" (ir/execution_model.h). Requires: as
  /// parallel.
  void bind(LoopRV loop, std::string_view thread_axis);
  /// What the loop's body begins with, statements that only fill buffers, runs `stages` - 1 iterations ahead
  /// of the rest, on machines that can do that (lowering step pipeline_loops); each of the buffers is there
  /// `stages` times then. With 1 nothing changes. Requires: 1 to 16 stages; a serial loop that is not
  /// pipelined yet; a body of several statements, of which the first have blocks with one store and spatial
  /// iterators alone, into intermediates of a scope of their own that only this loop uses and nothing else in
  /// it writes, and read nothing that the loop writes.
  void software_pipeline(LoopRV loop, const IntArg& stages);

  // ---- Caches ----
  //
  // `read_index` and `write_index` count the accesses of a block, as analysis/accesses.h lists them.

  /// A copy of the buffer of the block's `read_index`-th read, in `scope`, which this read reads instead;
  /// other reads of the buffer stay. Answers the copying block, placed at the root before the block's nest.
  /// Requires: the buffer has at most one writer, standing before.
  BlockRV cache_read(BlockRV block, int read_index, std::string_view scope);
  /// The block writes a new buffer in `scope`; a new block copies it to the old one. Answers the copying
  /// block. Requires: the block is the only writer of the buffer.
  BlockRV cache_write(BlockRV block, int write_index, std::string_view scope);
  /// As cache_read, in the order that `index_map` gives: what the block reads at iterators v lies at
  /// index_map(v), written "(i, j, k) -> (k, i)", a parameter for each iterator. Requires: an access that is
  /// always inside the buffer; a one-to-one map of the iterators that it or the access uses.
  BlockRV reindex_cache_read(BlockRV block, int read_index, std::string_view scope,
                             std::string_view index_map);
  /// As cache_write, in the order that `index_map` gives. Requires: as reindex for "write"; a one-to-one map
  /// of the iterators that the access uses.
  BlockRV reindex_cache_write(BlockRV block, int write_index, std::string_view scope,
                              std::string_view index_map);
  /// A copy, made under `loop`, of what the block's `read_index`-th read reads there. Requires: what
  /// cache_read and then compute_at require.
  BlockRV read_at(LoopRV loop, BlockRV block, int read_index, std::string_view scope);
  /// The block writes a new buffer, of which `loop` copies back what it finishes. Requires: what cache_write
  /// and then reverse_compute_at require.
  BlockRV write_at(LoopRV loop, BlockRV block, int write_index, std::string_view scope);
  /// Each iteration of the innermost loop around the block and its consumers computes only what the one
  /// before has not, and the block's buffer keeps just the window of elements that one iteration needs. The
  /// loop becomes an opaque iterator of the block: its iterations keep their order from here on. Requires: a
  /// serial loop; a stage with one store into an intermediate; the box that an iteration writes can be shown,
  /// holds all that consumers read there, and moves along one dimension by less than its extent.
  void rolling_buffer(BlockRV block, int write_index);
  void set_scope(BlockRV block, int write_index, std::string_view scope);

  // ---- Placement ----

  /// Moves a producer under `loop`, computing there just what is read there. Requires: complete block (single
  /// writer, affine bijective bindings, spatial and reduction iterators), all consumers under `loop`, no
  /// output of the program; the region needed can be shown. With kRootLocation nothing happens; with
  /// kInlineLocation the block is inlined.
  void compute_at(BlockRV block, LoopRV loop);
  /// Moves a consumer under `loop`, computing there just what has been produced there. Requires: as
  /// compute_at, all producers under `loop`, each iteration of which finishes what the consumer reads.
  void reverse_compute_at(BlockRV block, LoopRV loop);
  /// Requires: one store of one element an iteration, no reduction, affine one-to-one indices, no output.
  void compute_inline(BlockRV block);
  /// Inlines an elementwise consumer into its only producer, which is no reduction and is read once.
  void reverse_compute_inline(BlockRV block);

  // ---- Reductions ----

  /// Splits off the initialisation into a block of its own before `loop`. Requires: a reduction block with an
  /// init; no reduction iterator bound outside `loop`; nothing inside it writes what the init reads.
  BlockRV decompose_reduction(BlockRV block, LoopRV loop);
  /// Factors a reduction by sum, product, min or max over `loop`, which binds reduction iterators only:
  /// partial results, with the loop as dimension `factor_axis`, then a block that combines them. Answers the
  /// former.
  BlockRV rfactor(LoopRV loop, int factor_axis);
  /// The reduction starts from what the epilogue combines its result with, and writes the epilogue's buffer:
  /// a bias becomes a sum's init. Requires: a sum, product, minimum or maximum that the epilogue alone reads,
  /// by element, and combines by the same operation with what is finished where the reduction stands.
  void fuse_reduction_epilogue(BlockRV reduction, BlockRV epilogue);
  /// Minimal filtering F(2, 3): four products, of transformed data and weights, for two outputs of three taps
  /// each. Answers the block of the products; an infinity becomes a NaN. Requires: a sum in f32 or f64 of two
  /// factors, one of which moves by steps of one with an output and the taps; one loop for each iterator.
  BlockRV winograd(BlockRV block);

  // ---- Layouts ----

  /// Stores an intermediate in another order: the element at indices x lies at `index_map`(x), written
  /// "(i, j) -> (i // 16, j, i % 16)". The buffer is that of the block's `index`-th read (`access`
  /// "read") or write ("write"), and all accesses of it follow. Requires: an intermediate buffer; a map that
  /// is one-to-one on its shape, with no negative result.
  void transform_layout(BlockRV block, std::string_view access, int index, std::string_view index_map);
  /// The block's iterators become the results of `index_map`, a parameter for each old one; new loops, one
  /// for each, take the place of the old ones. Requires: a nest of one serial loop without annotations for
  /// each iterator and nothing else; a map one-to-one and onto its box that keeps spatial and reduction
  /// iterators apart.
  void transform_block_layout(BlockRV block, std::string_view index_map);
  /// A copy in the order of the block's iterators takes the place of the block's `index`-th read or write:
  /// for "read" as cache_read, for "write" as cache_write. Answers the copying block. Requires: an access
  /// always inside the buffer, which depends on the block's iterators only; to write: the block's one way of
  /// accessing the buffer, one-to-one.
  BlockRV reindex(BlockRV block, std::string_view access, int index);
  /// In memory, the stride of dimension `axis` of the `write_index`-th buffer that the block writes becomes
  /// `offset` more than a multiple of `factor`; gaps are never read. Requires: an intermediate buffer, the
  /// only one that the block writes.
  void storage_align(BlockRV block, int write_index, int axis, int64_t factor, int64_t offset);
  /// In memory, pieces of 16 bytes of each row of the `write_index`-th buffer that the block writes change
  /// places with the row's number (Swizzle), so that a column of neighbouring rows lies in different banks.
  /// Requires: an intermediate buffer, the only one that the block writes, whose rows storage_align leaves
  /// alone. Lowering refuses memory without banks, rows (along the last dimension, of what is left of the
  /// buffer in its place) that are no power of two of at least 32 bytes, and calls of intrinsics that do not
  /// take such an operand.
  void storage_swizzle(BlockRV block, int write_index);
  /// Enlarges the iterators of a product of tensors to multiples of `padding`, one for each: inputs are read
  /// through copies "X_pad" that end in zeros, the output is written to a larger buffer and copied back.
  /// Requires: a nest of one loop for each iterator and nothing else; padded iterators are indices of their
  /// own; over padded reductions a sum of products of loads that all use them.
  void pad_einsum(BlockRV block, const std::vector<int64_t>& padding);
  /// Splits a block `select(inside, x, constant)` into one that fills with the constant, before `loop`, and
  /// the block itself, which copies where inside holds. Answers the filling block. Requires: a condition that
  /// bounds iterators one by one.
  BlockRV decompose_padding(BlockRV block, LoopRV loop);
  /// Lists the block's iterators in another order: `order`[n] is the position of what becomes the n-th.
  void reorder_block_iter_var(BlockRV block, const std::vector<int64_t>& order);

  // ---- Tensor intrinsics ----

  /// The loop nest becomes the body of a new block, one instance of which runs a tile of the old block, which
  /// is left inside with iterators over the tile. Answers the new block. Requires: one block under the loop
  /// and nothing else; loops that run over a whole tile of its iterators, whose extents the tile divides; no
  /// condition on them; an init only where the whole reduction is inside.
  BlockRV blockize(LoopRV loop);
  /// The loop nest, or the block that blockize made of one, becomes a call of the tensor intrinsic that
  /// intrinsics() has by this name (tensor_intrinsic.h), and is closed from then on. Answers the calling
  /// block. Requires: as blockize; the nest computes what the intrinsic does, without init where that
  /// accumulates; operands in the scopes that it wants, never `register`, and laid out so: lowering checks
  /// both of intermediates.
  BlockRV tensorize(LoopRV loop, std::string_view intrinsic);
  BlockRV tensorize(BlockRV block, std::string_view intrinsic);

  // ---- Annotations ----

  using AnnotationArg = std::variant<int64_t, double, std::string, IntRV>;
  void annotate(BlockRV block, std::string_view key, AnnotationArg value);
  void annotate(LoopRV loop, std::string_view key, AnnotationArg value);
  /// On the whole program.
  void annotate(std::string_view key, AnnotationArg value);
  void unannotate(BlockRV block, std::string_view key);
  void unannotate(LoopRV loop, std::string_view key);
  void unannotate(std::string_view key);

 private:
  friend tl::expected<Schedule, ScheduleError> replay(const Program&, const Trace&, RandomStream, size_t*,
                                                      std::shared_ptr<const TensorIntrinsics>);
  Schedule(const Schedule&);
  /// The built-in kind of this name.
  static const InstructionKind& kind(std::string_view name);
  /// Executes and keeps the values and the sampling point; recording is the caller's. Throws ScheduleError,
  /// the schedule as before.
  ExecutionResult perform(const InstructionKind& kind, std::span<const Arg> args, const Decision* decision);
  /// Before the instruction is appended.
  void note_point(const InstructionKind& kind, SamplingDomain domain);
  void replay_instruction(std::shared_ptr<const Instruction> instruction);

  Program program_;
  Trace trace_;
  std::vector<SamplingPoint> points_;
  std::vector<Value> values_;  // of trace variables, by index
  RandomStream random_;
  std::shared_ptr<const TensorIntrinsics> intrinsics_;  // null: the process's
  bool finishing_ = false;                              // the marker is in the trace
};

/// Executes a trace on a fresh clone of `program`. Decisions that no longer fit are repaired, open ones drawn
/// from `random`; the answer's trace() holds what was really decided. A refusal is a value here, because
/// searches meet many; `refused_at`, when given, receives the position of the instruction refused.
/// `intrinsics`: as the schedule's constructor takes them.
tl::expected<Schedule, ScheduleError> replay(const Program& program, const Trace& trace,
                                             RandomStream random = RandomStream(0),
                                             size_t* refused_at = nullptr,
                                             std::shared_ptr<const TensorIntrinsics> intrinsics = nullptr);

}  // namespace tunesmith
#pragma GCC visibility pop
