#include "tunesmith/analysis/blocks.h"

#include <algorithm>

#include "tunesmith/affine/simplify.h"
#include "tunesmith/analysis/accesses.h"
#include "tunesmith/ir/regions.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/support/contains.h"

namespace tunesmith {

bool is_trivially_bound(const Block& block) {
  std::vector<Expr> seen;
  for (const Expr& binding : block.bindings) {
    if (binding.is(ExprKind::IntImm)) continue;
    if (!binding.is(ExprKind::Var)) return false;
    if (std::any_of(seen.begin(), seen.end(), [&](const Expr& other) { return other.same_as(binding); }))
      return false;
    seen.push_back(binding);
  }
  return is_const_int(block.predicate, 1);
}

bool needs_tiling(const Block& block) {
  if (!block.has_reduction() || !is_trivially_bound(block) || writes_of(block).size() != 1) return false;
  const std::vector<Access> reads = read_accesses(block);
  return std::any_of(reads.begin(), reads.end(), [&](const Access& read) {
    return std::any_of(block.iters.begin(), block.iters.end(), [&](const IterVar& iter) {
      return iter.kind == IterKind::Spatial && iter.extent > 1 &&
             std::none_of(read.indices.begin(), read.indices.end(),
                          [&](const Expr& index) { return uses_var(index, iter.var); });
    });
  });
}

bool is_elementwise(const Block& block) {
  const std::vector<Access> writes = writes_of(block);
  if (writes.size() != 1 || block.init() != nullptr) return false;
  for (const IterVar& iter : block.iters) {
    if (iter.kind != IterKind::Spatial) return false;
  }
  for (const Expr& index : writes.front().indices) {
    if (!index.is(ExprKind::Var) && !index.is(ExprKind::IntImm)) return false;
  }
  return true;
}

IterationCount iteration_count(const Block& block) {
  IterationCount count;
  for (const IterVar& iter : block.iters) {
    (iter.kind == IterKind::Reduction ? count.reduction : count.spatial) *= iter.extent;
  }
  return count;
}

LoopUse use_of(const Loop& loop, const Block& block) {
  LoopUse use;
  for (size_t i = 0; i < block.iters.size(); ++i) {
    if (!uses_var(block.bindings[i], loop.var)) continue;
    use.spatial = use.spatial || block.iters[i].kind == IterKind::Spatial;
    use.reduction = use.reduction || block.iters[i].kind == IterKind::Reduction;
    use.opaque = use.opaque || block.iters[i].kind == IterKind::Opaque;
  }
  return use;
}

LoopUse use_of(const Loop& loop) {
  LoopUse all;
  for (const Block* block : collect<Block>(loop)) {
    const LoopUse one = use_of(loop, *block);
    all.spatial = all.spatial || one.spatial;
    all.reduction = all.reduction || one.reduction;
    all.opaque = all.opaque || one.opaque;
  }
  return all;
}

int64_t store_stride(const Block& block, const Var& loop_var) {
  const std::vector<Access> writes = writes_of(block);
  if (writes.empty()) return 0;
  const Substitution bindings = block.iters_at(block.bindings);
  const std::vector<int64_t> strides = writes.front().buffer->effective_strides();
  Expr offset = 0;
  for (size_t d = 0; d < strides.size(); ++d) {
    offset = offset + substitute(writes.front().indices[d], bindings) * strides[d];
  }
  return Analyzer::at(block).linear(offset).coefficient_of(loop_var);
}

bool writes_output(const Program& program, const Block& block) {
  for (const Access& write : writes_of(block)) {
    if (contains(program.outputs, write.buffer)) return true;
  }
  return false;
}

}  // namespace tunesmith
