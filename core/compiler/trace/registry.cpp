#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "trace/kinds.h"
#include "tunesmith/support/error.h"

namespace tunesmith {
namespace {

/// Every kind of the kernel.
constexpr KindPtr (*kBuiltIn[])() = {
    // Look-ups
    get_block_kind, get_loops_kind, get_child_blocks_kind, get_producers_kind, get_consumers_kind,
    get_output_blocks_kind,
    // Sampling
    sample_categorical_kind, sample_perfect_tile_kind, sample_partitioned_tile_kind,
    sample_compute_location_kind,
    // Loops
    split_kind, fuse_kind, merge_kind, loop_partition_kind, reorder_kind, add_unit_loop_kind, parallel_kind,
    vectorize_kind, unroll_kind, bind_kind, software_pipeline_kind,
    // Caches
    cache_read_kind, cache_write_kind, read_copy_kind, reindex_cache_read_kind, reindex_cache_write_kind,
    read_at_kind, write_at_kind, rolling_buffer_kind, set_scope_kind,
    // Placement
    compute_at_kind, reverse_compute_at_kind, compute_inline_kind, reverse_compute_inline_kind,
    // Reductions
    decompose_reduction_kind, rfactor_kind, fuse_reduction_epilogue_kind, factor_out_kind,
    rolling_update_kind, winograd_kind,
    // Layouts
    transform_layout_kind, transform_block_layout_kind, reindex_kind, reorder_block_iter_var_kind,
    storage_align_kind, storage_swizzle_kind, pad_einsum_kind, decompose_padding_kind,
    // Tensor intrinsics
    blockize_kind, tensorize_kind,
    // Annotations
    annotate_kind, unannotate_kind,
    // The marker
    enter_finishing_kind};

auto lower_bound(const std::vector<KindPtr>& kinds, std::string_view name) {
  return std::lower_bound(kinds.begin(), kinds.end(), name,
                          [](const KindPtr& kind, std::string_view wanted) { return kind->name() < wanted; });
}

}  // namespace

InstructionKind::~InstructionKind() = default;

InstructionRegistry::InstructionRegistry() {
  for (const auto& make : kBuiltIn) add(make());
}

InstructionRegistry& InstructionRegistry::global() {
  static InstructionRegistry registry;
  return registry;
}

void InstructionRegistry::add(std::unique_ptr<const InstructionKind> kind) {
  const auto at = lower_bound(kinds_, kind->name());
  if (at != kinds_.end() && (*at)->name() == kind->name()) {
    throw UserError(fmt::format("the instruction kind '{}' already exists", kind->name()),
                    "give the plugin's kind another name");
  }
  kinds_.insert(at, std::move(kind));
}

const InstructionKind* InstructionRegistry::find(std::string_view name) const {
  const auto at = lower_bound(kinds_, name);
  return at != kinds_.end() && (*at)->name() == name ? at->get() : nullptr;
}

std::vector<std::string> InstructionRegistry::names() const {
  std::vector<std::string> result;
  for (const KindPtr& kind : kinds_) result.push_back(kind->name());
  return result;
}

}  // namespace tunesmith
