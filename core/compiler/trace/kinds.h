// The kernel's instruction kinds: one function each, defined beside the primitive in
// primitives/<name>.cpp (samplings in sampling/<name>.cpp) and listed in registry.cpp.
#pragma once

#include <memory>

#include "tunesmith/trace/instruction.h"

namespace tunesmith {

using KindPtr = std::unique_ptr<const InstructionKind>;

// Look-ups
KindPtr get_block_kind();
KindPtr get_loops_kind();
KindPtr get_child_blocks_kind();
KindPtr get_producers_kind();
KindPtr get_consumers_kind();
KindPtr get_output_blocks_kind();

// Sampling
KindPtr sample_categorical_kind();
KindPtr sample_perfect_tile_kind();
KindPtr sample_partitioned_tile_kind();
KindPtr sample_compute_location_kind();

// Loops
KindPtr split_kind();
KindPtr fuse_kind();
KindPtr merge_kind();
KindPtr loop_partition_kind();
KindPtr reorder_kind();
KindPtr add_unit_loop_kind();
KindPtr parallel_kind();
KindPtr vectorize_kind();
KindPtr unroll_kind();
KindPtr bind_kind();
KindPtr software_pipeline_kind();

// Caches
KindPtr cache_read_kind();
KindPtr cache_write_kind();
KindPtr read_copy_kind();
KindPtr reindex_cache_read_kind();
KindPtr reindex_cache_write_kind();
KindPtr read_at_kind();
KindPtr write_at_kind();
KindPtr rolling_buffer_kind();
KindPtr set_scope_kind();

// Placement
KindPtr compute_at_kind();
KindPtr reverse_compute_at_kind();
KindPtr compute_inline_kind();
KindPtr reverse_compute_inline_kind();

// Reductions
KindPtr decompose_reduction_kind();
KindPtr rfactor_kind();
KindPtr fuse_reduction_epilogue_kind();
KindPtr factor_out_kind();
KindPtr rolling_update_kind();
KindPtr winograd_kind();

// Layouts
KindPtr transform_layout_kind();
KindPtr transform_block_layout_kind();
KindPtr reindex_kind();
KindPtr reorder_block_iter_var_kind();
KindPtr storage_align_kind();
KindPtr storage_swizzle_kind();
KindPtr pad_einsum_kind();
KindPtr decompose_padding_kind();

// Tensor intrinsics
KindPtr blockize_kind();
KindPtr tensorize_kind();

// Annotations
KindPtr annotate_kind();
KindPtr unannotate_kind();

// The marker
KindPtr enter_finishing_kind();

}  // namespace tunesmith
