// Schedules: a program and the trace of its transformations. A transformation proves that it preserves the
// program's meaning, or throws ScheduleError and leaves the schedule unchanged. Each declaration states its
// preconditions; docs/schedule.md has examples.
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

/// An executed sampling instruction and its domain.
struct SamplingPoint {
  size_t position = 0;  // in the trace
  const SamplingKind* kind = nullptr;
  SamplingDomain domain;
};

/// Belongs to one thread at a time. clone() gives an independent one.
class Schedule {
 public:
  /// Clones `program`. Sampling draws from `random`. tensorize() looks names up in `intrinsics`: those of a
  /// space (Space::intrinsics()), or null for those of the process (TensorIntrinsics::global()), where the
  /// latest definition of a name wins.
  explicit Schedule(const Program& program, RandomStream random = RandomStream(0),
                    std::shared_ptr<const TensorIntrinsics> intrinsics = nullptr);
  Schedule(Schedule&&) noexcept;
  Schedule& operator=(Schedule&&) noexcept;
  ~Schedule();

  Schedule clone() const;

  const Program& program() const { return program_; }
  const Trace& trace() const { return trace_; }
  /// The intrinsics that tensorize() knows by name.
  const TensorIntrinsics& intrinsics() const;
  /// The sampling points of the searchable part of the trace.
  const std::vector<SamplingPoint>& sampling_points() const { return points_; }
  /// Appends the marker to the trace: later instructions belong to the finishing part, which search does not
  /// change. Throws ScheduleError if the marker is already there.
  void enter_finishing();
  void reseed(RandomStream random) { random_ = random; }

  /// The block or loop that a handle refers to. Throws ScheduleError if it no longer exists.
  Block& block(BlockRV rv) const;
  Loop& loop(LoopRV rv) const;
  /// Does not check that the block still exists.
  BlockId block_id(BlockRV rv) const;
  LoopId location(LoopRV rv) const;  // may be kRootLocation or kInlineLocation
  int64_t value(IntRV rv) const;

  /// Executes and records one instruction of any kind; the typed functions
  /// below call it. `decision` (sampling) is repaired if it does not fit.
  std::vector<TraceVar> execute(const InstructionKind& kind, std::vector<Arg> args,
                                const std::optional<Decision>& decision = std::nullopt);

  // ---- Look-ups ----
  BlockRV get_block(std::string_view name);
  /// Loops around the block, outermost first.
  std::vector<LoopRV> get_loops(BlockRV block);
  std::vector<BlockRV> get_child_blocks(LoopRV loop);
  /// The blocks that write a buffer that this one reads / read one that it writes, in text order.
  std::vector<BlockRV> get_producers(BlockRV block);
  std::vector<BlockRV> get_consumers(BlockRV block);
  /// Blocks that write an output of the program.
  std::vector<BlockRV> get_output_blocks();
  /// A handle for a block found by analysis of program(); recorded as get_block(name).
  BlockRV handle(const Block& block);

  // ---- Sampling ----
  /// One of `candidates`, with the prior `probabilities` (one for each, summing to 1).
  IntRV sample_categorical(std::vector<int64_t> candidates, std::vector<double> probabilities);
  /// `n` factors whose product is the loop's extent, drawn uniformly among all such tuples whose last factor
  /// is at most `max_innermost`.
  std::vector<IntRV> sample_perfect_tile(LoopRV loop, int n, int max_innermost);
  /// As above, with the product of the factors from `partition` on divisible by `inner_factor`.
  std::vector<IntRV> sample_partitioned_tile(LoopRV loop, int n, int partition, int inner_factor);
  /// A loop of the block's consumer at which it can be computed, the root, or inlining.
  LoopRV sample_compute_location(BlockRV block);

  // ---- Loops ----
  /// Requires: at most one open factor (nullopt); product >= extent. A larger product
  /// adds a predicate to the blocks inside. Returns the new loops, outermost first.
  std::vector<LoopRV> split(LoopRV loop, const std::vector<std::optional<IntArg>>& factors);
  /// Requires: each loop is the only child of the previous one; constant extents.
  LoopRV fuse(const std::vector<LoopRV>& loops);
  /// Merges loop nests that directly follow one another in one sequence and have equal extents: their bodies
  /// run one after the other in each iteration. Returns the first loop. Requires: serial loops without
  /// annotations; an element that two of the nests access and one writes is accessed by one iteration only.
  LoopRV merge(const std::vector<LoopRV>& loops);
  /// Cuts the loop's range at `points`, which increase within it. Returns one loop per piece,
  /// each with copies of the blocks below (the first keeps the names). Predicates and selects
  /// that are constant in a piece are removed, as is the init where the first reduction step
  /// lies in another piece. Requires: a serial loop without annotations; below it no opaque
  /// iterator and no nested blocks; in each piece the instances of a block form a box.
  std::vector<LoopRV> loop_partition(LoopRV loop, const std::vector<IntArg>& points);
  /// Requires: all loops are on one chain of only children; the blocks
  /// below have spatial or reduction iterators only, with affine bindings.
  void reorder(const std::vector<LoopRV>& loops);
  /// A loop of extent 1 around the block.
  LoopRV add_unit_loop(BlockRV block);
  /// Requires: no block below carries a dependence over the loop (only spatial iterators are bound to it).
  void parallel(LoopRV loop);
  /// Requires: as parallel; a reduction block's init must have been decomposed out of the loop.
  void vectorize(LoopRV loop);
  void unroll(LoopRV loop);
  /// Binds the loop to a target axis, "<level>.<axis>" (ir/execution_model.h). Requires: as parallel.
  void bind(LoopRV loop, std::string_view thread_axis);
  /// Runs the leading producer statements of the loop's body `stages` - 1 iterations ahead of the rest, on
  /// machines that support it (lowering step pipeline_loops); each buffer that they fill then has `stages`
  /// versions. 1 changes nothing. Requires: 1 to 16 stages; a serial loop that is not yet pipelined;
  /// producers that are blocks with one store and spatial iterators only, which read nothing that the loop
  /// writes and fill intermediates of a shared scope that nothing else writes and nothing outside the loop
  /// uses.
  void software_pipeline(LoopRV loop, const IntArg& stages);

  // ---- Caches ----
  //
  // `read_index` and `write_index` number the accesses of a block (analysis/accesses.h).

  /// Copies the buffer of the block's `read_index`-th read to `scope`, and redirects this read to
  /// the copy; other reads of the buffer do not change. Returns the copying block, placed at the
  /// root before the block's nest. Requires: the buffer has at most one writer, which comes before.
  BlockRV cache_read(BlockRV block, int read_index, std::string_view scope);
  /// The block writes a new buffer in `scope`, which a new block copies to the old
  /// one. Returns the copying block. Requires: the block is the buffer's only writer.
  BlockRV cache_write(BlockRV block, int write_index, std::string_view scope);
  /// As cache_read, in the order of `index_map`: what the block reads at iterators v is stored at
  /// index_map(v), written "(i, j, k) -> (k, i)", with one parameter per iterator. Requires: the access
  /// is always inside the buffer; the map is one-to-one on the iterators that it or the access uses.
  BlockRV reindex_cache_read(BlockRV block, int read_index, std::string_view scope,
                             std::string_view index_map);
  /// As cache_write, in the order of `index_map`. Requires: as reindex for
  /// "write"; the map is one-to-one on the iterators that the access uses.
  BlockRV reindex_cache_write(BlockRV block, int write_index, std::string_view scope,
                              std::string_view index_map);
  /// Copies the region of the block's `read_index`-th read under `loop`. Requires: as cache_read, then
  /// compute_at.
  BlockRV read_at(LoopRV loop, BlockRV block, int read_index, std::string_view scope);
  /// The block writes a new buffer; each iteration of `loop` copies back the elements that it finishes.
  /// Requires: as cache_write, then reverse_compute_at.
  BlockRV write_at(LoopRV loop, BlockRV block, int write_index, std::string_view scope);
  /// Each iteration of the innermost loop around the block and its consumers computes only elements that
  /// earlier iterations have not, and the buffer shrinks to the window that one iteration needs. The loop
  /// becomes an opaque iterator of the block, so its iterations keep their order. Requires: a serial loop; a
  /// stage with one store to an intermediate; the box written by an iteration can be proved, contains what
  /// consumers read, and moves along one dimension by less than its extent.
  void rolling_buffer(BlockRV block, int write_index);
  void set_scope(BlockRV block, int write_index, std::string_view scope);

  // ---- Placement ----
  /// Moves a producer under `loop`, where it computes only the region that is read there. Requires:
  /// a complete block (the only writer, affine bijective bindings, spatial and reduction
  /// iterators), all consumers under `loop`, no output of the program; the needed region
  /// can be proved. kRootLocation changes nothing; kInlineLocation inlines the block.
  void compute_at(BlockRV block, LoopRV loop);
  /// Moves a consumer under `loop`, where it processes the region that is produced there. Requires: as
  /// compute_at; all producers are under `loop`, and each iteration finishes the elements that the consumer
  /// reads.
  void reverse_compute_at(BlockRV block, LoopRV loop);
  /// Requires: one store of one element per iteration, no reduction, affine one-to-one indices, no output.
  void compute_inline(BlockRV block);
  /// Inlines an elementwise consumer into its only producer, which has no reduction and is read once.
  void reverse_compute_inline(BlockRV block);

  // ---- Reductions ----
  /// Moves the init into a separate block before `loop`. Requires: a reduction block with an init;
  /// no reduction iterator is bound outside `loop`; nothing inside writes what the init reads.
  BlockRV decompose_reduction(BlockRV block, LoopRV loop);
  /// Factors a reduction (sum, product, min or max) over `loop`, to which only
  /// reduction iterators are bound: a block of partial results, with the loop as
  /// dimension `factor_axis`, and a block that combines them. Returns the former.
  BlockRV rfactor(LoopRV loop, int factor_axis);
  /// The reduction starts from the value that the epilogue adds, and writes the epilogue's buffer: a
  /// bias becomes a sum's init. Requires: a sum, product, minimum or maximum that only the epilogue
  /// reads, by element, and combines by the same operation with a value complete at the reduction.
  void fuse_reduction_epilogue(BlockRV reduction, BlockRV epilogue);
  /// Takes factors, and divisors of floating values, that all steps share out of a sum: a block behind it
  /// multiplies by them. Returns that block. Requires: a sum with init that writes its whole buffer, no
  /// reader in its nest, and factors that are complete before the nest.
  BlockRV factor_out(BlockRV block);
  /// Softmax in one pass: `loop` finds the maximum while the sums of exp(x - maximum) run, which each
  /// iteration rescales by exp(old - new). Returns the block of an iteration's maximum. Requires: a maximum
  /// of floating values with one reader, which subtracts it in an exponential from what it is of; under the
  /// loop the reader and all that depends on it in proportion, up to sums that the loop carries.
  BlockRV rolling_update(BlockRV block, LoopRV loop);
  /// Minimal filtering F(2, 3): four products of transformed data and weights give two outputs of three
  /// taps each. Returns the block of the products; an infinity becomes a NaN. Requires: a sum in f32 or f64
  /// of two factors; the index of one advances by one with an output and the taps; one loop per iterator.
  BlockRV winograd(BlockRV block);

  // ---- Layouts ----
  /// Stores an intermediate in another order: the element at indices x lies at `index_map`(x),
  /// written "(i, j) -> (i // 16, j, i % 16)". The buffer is that of the block's `index`-th
  /// read (`access` "read") or write ("write"); all its accesses change. Requires: an
  /// intermediate buffer; the map is one-to-one on its shape, without negative results.
  void transform_layout(BlockRV block, std::string_view access, int index, std::string_view index_map);
  /// The results of `index_map`, with one parameter per old iterator, become the block's iterators, with one
  /// new loop each. Requires: a nest of one serial loop without annotations per iterator and nothing else;
  /// the map is one-to-one and onto its box, and separates spatial from reduction iterators.
  void transform_block_layout(BlockRV block, std::string_view index_map);
  /// Redirects the block's `index`-th read or write to a copy in the order of the block's
  /// iterators: as cache_read for "read", as cache_write for "write". Returns the copying
  /// block. Requires: the access is always inside the buffer and depends only on the block's
  /// iterators; a write must be the block's only access of the buffer, and one-to-one.
  BlockRV reindex(BlockRV block, std::string_view access, int index);
  /// Makes the stride of dimension `axis` of the `write_index`-th buffer that
  /// the block writes a multiple of `factor` plus `offset`; gaps are never read.
  /// Requires: an intermediate buffer, the only one that the block writes.
  void storage_align(BlockRV block, int write_index, int axis, int64_t factor, int64_t offset);
  /// Permutes pieces of 16 bytes within each row of the `write_index`-th buffer that the block writes,
  /// depending on the row's number (Swizzle), so that a column of neighbouring rows lies in different banks.
  /// Requires: an intermediate buffer, the only one that the block writes, with rows that storage_align does
  /// not change. Lowering refuses memory without banks, rows (along the last dimension of the placed buffer)
  /// that are no power of two of at least 32 bytes, and intrinsics that do not accept such an operand.
  void storage_swizzle(BlockRV block, int write_index);
  /// Enlarges the iterators of a product of tensors to multiples of `padding`, one for each: inputs
  /// are read through zero-padded copies "X_pad", and the output is written to a larger buffer and
  /// copied back. Requires: a nest of one loop per iterator and nothing else; padded iterators are
  /// indices by themselves; a padded reduction is a sum of products of loads that all use it.
  void pad_einsum(BlockRV block, const std::vector<int64_t>& padding);
  /// Splits a block `select(inside, x, constant)` into a block that fills with the
  /// constant, before `loop`, and the block itself, which copies where `inside` holds.
  /// Returns the filling block. Requires: the condition bounds iterators one by one.
  BlockRV decompose_padding(BlockRV block, LoopRV loop);
  /// Reorders the block's iterators: `order`[n] is the old position of the new n-th iterator.
  void reorder_block_iter_var(BlockRV block, const std::vector<int64_t>& order);

  // ---- Tensor intrinsics ----
  /// Makes the loop nest the body of a new block; each instance runs a tile of the old block, and
  /// the old block stays inside, with iterators over the tile. Returns the new block. Requires: one
  /// block under the loop and nothing else; loops over whole tiles of its iterators, whose extents
  /// the tile divides; no predicate on them; an init only if the whole reduction is inside.
  BlockRV blockize(LoopRV loop);
  /// Makes the loop nest, or the block that blockize made of one, a call of the intrinsic
  /// with this name in intrinsics() (tensor_intrinsic.h); no instruction may change it
  /// afterwards. Returns the calling block. Requires: as blockize; the nest computes the
  /// intrinsic's semantics, without init where the intrinsic accumulates; operands are in
  /// the required scopes, never `register`, and layouts (lowering checks intermediates).
  BlockRV tensorize(LoopRV loop, std::string_view intrinsic);
  BlockRV tensorize(BlockRV block, std::string_view intrinsic);

  // ---- Annotations ----
  using AnnotationArg = std::variant<int64_t, double, std::string, IntRV>;
  void annotate(BlockRV block, std::string_view key, AnnotationArg value);
  void annotate(LoopRV loop, std::string_view key, AnnotationArg value);
  /// Annotates the whole program.
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
  /// Executes and keeps the values and the sampling point; the caller
  /// records. Throws ScheduleError and leaves the schedule unchanged.
  ExecutionResult perform(const InstructionKind& kind, std::span<const Arg> args, const Decision* decision);
  /// Called before the instruction is appended.
  void note_point(const InstructionKind& kind, SamplingDomain domain);
  void replay_instruction(std::shared_ptr<const Instruction> instruction);

  Program program_;
  Trace trace_;
  std::vector<SamplingPoint> points_;
  std::vector<Value> values_;  // of trace variables, by index
  RandomStream random_;
  std::shared_ptr<const TensorIntrinsics> intrinsics_;  // null: those of the process
  bool finishing_ = false;                              // the marker is in the trace
};

/// Executes a trace on a fresh clone of `program`. Decisions that do not fit are repaired,
/// open ones are drawn from `random`; the result's trace() has the actual decisions. A refusal
/// is returned and not thrown, because searches meet many; `refused_at`, if given, receives
/// the position of the refused instruction. `intrinsics`: as in the schedule's constructor.
tl::expected<Schedule, ScheduleError> replay(const Program& program, const Trace& trace,
                                             RandomStream random = RandomStream(0),
                                             size_t* refused_at = nullptr,
                                             std::shared_ptr<const TensorIntrinsics> intrinsics = nullptr);

}  // namespace tunesmith
#pragma GCC visibility pop
