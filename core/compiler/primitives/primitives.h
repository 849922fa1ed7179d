// The primitives as free functions on a Program: each changes it to an
// equivalent program, or throws ScheduleError and leaves it unchanged.
// Schedule's methods (tunesmith/trace/schedule.h) state the preconditions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "primitives/shared/annotation_target.h"
#include "tunesmith/intrinsics/tensor_intrinsic.h"
#include "tunesmith/ir/program.h"

namespace tunesmith {

// ---- Loops ----

std::vector<LoopId> split(Program& program, LoopId loop, std::span<const std::optional<int64_t>> factors);
LoopId fuse(Program& program, std::span<const LoopId> loops);
LoopId merge(Program& program, std::span<const LoopId> loops);
std::vector<LoopId> loop_partition(Program& program, LoopId loop, std::span<const int64_t> points);
void reorder(Program& program, std::span<const LoopId> loops);
LoopId add_unit_loop(Program& program, BlockId block);
void parallel(Program& program, LoopId loop);
void vectorize(Program& program, LoopId loop);
void unroll(Program& program, LoopId loop);
void bind(Program& program, LoopId loop, std::string_view thread_axis);
void software_pipeline(Program& program, LoopId loop, int64_t stages);

// ---- Caches ----

BlockId cache_read(Program& program, BlockId block, int64_t read_index, std::string_view scope);
BlockId cache_write(Program& program, BlockId block, int64_t write_index, std::string_view scope);
void read_copy(Program& program, BlockId block, int64_t read_index, BlockId copy);
BlockId reindex_cache_read(Program& program, BlockId block, int64_t read_index, std::string_view scope,
                           std::string_view index_map);
BlockId reindex_cache_write(Program& program, BlockId block, int64_t write_index, std::string_view scope,
                            std::string_view index_map);
BlockId read_at(Program& program, LoopId loop, BlockId block, int64_t read_index, std::string_view scope);
BlockId write_at(Program& program, LoopId loop, BlockId block, int64_t write_index, std::string_view scope);
void rolling_buffer(Program& program, BlockId block, int64_t write_index);
void set_scope(Program& program, BlockId block, int64_t write_index, std::string_view scope);

// ---- Placement ----

void compute_at(Program& program, BlockId block, LoopId loop);
void reverse_compute_at(Program& program, BlockId block, LoopId loop);
void compute_inline(Program& program, BlockId block);
/// Would compute_inline accept the block?
bool may_compute_inline(const Program& program, BlockId block);
void reverse_compute_inline(Program& program, BlockId block);

// ---- Reductions ----

BlockId decompose_reduction(Program& program, BlockId block, LoopId loop);
BlockId rfactor(Program& program, LoopId loop, int64_t factor_axis);
void fuse_reduction_epilogue(Program& program, BlockId reduction, BlockId epilogue);
BlockId factor_out(Program& program, BlockId block);
BlockId rolling_update(Program& program, BlockId block, LoopId loop);
BlockId winograd(Program& program, BlockId block);

// ---- Layouts ----

void transform_layout(Program& program, BlockId block, std::string_view access, int64_t index,
                      std::string_view index_map);
void transform_block_layout(Program& program, BlockId block, std::string_view index_map);
BlockId reindex(Program& program, BlockId block, std::string_view access, int64_t index);
void reorder_block_iter_var(Program& program, BlockId block, std::span<const int64_t> order);

void storage_align(Program& program, BlockId block, int64_t write_index, int64_t axis, int64_t factor,
                   int64_t offset);
/// `intrinsics`: those that the program calls.
void storage_swizzle(Program& program, BlockId block, int64_t write_index,
                     const TensorIntrinsics& intrinsics);
void pad_einsum(Program& program, BlockId block, std::span<const int64_t> padding);
BlockId decompose_padding(Program& program, BlockId block, LoopId loop);

// ---- Tensor intrinsics ----

BlockId blockize(Program& program, LoopId loop);
/// Calls the intrinsic of this name in `intrinsics`. May throw after changing the program.
BlockId tensorize(Program& program, LoopId loop, std::string_view name, const TensorIntrinsics& intrinsics);
BlockId tensorize(Program& program, BlockId block, std::string_view name, const TensorIntrinsics& intrinsics);

// ---- Annotations ----

void annotate(Program& program, const AnnotationTarget& target, std::string_view key, AnnotationValue value);
void unannotate(Program& program, const AnnotationTarget& target, std::string_view key);

}  // namespace tunesmith
