#include "twins/full_strides.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "tunesmith/intrinsics/tensor_intrinsic.h"
#include "tunesmith/ir/annotation_keys.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/support/error.h"

namespace tunesmith {
namespace {

std::vector<const Loop*> tensor_calls_of(const Program& lowered) {
  return collect<Loop>(lowered.root(),
                       [](const Loop& loop) { return loop.annotations.contains(kTensorIntrinsic); });
}

/// Does the instruction get this operand's stride? A bulk copy gets a map of the tensor instead.
bool is_given_stride(const TensorIntrinsic& intrinsic, size_t position) {
  const TensorOperand& operand = intrinsic.operands[position];
  return operand.free_dimension() < operand.strides.size() && !(intrinsic.bulk_copy && position > 0);
}

}  // namespace

std::set<std::string> unequal_strides(const Program& full, const Program& smaller) {
  const std::vector<const Loop*> theirs = tensor_calls_of(full);
  const std::vector<const Loop*> ours = tensor_calls_of(smaller);
  check_invariant(theirs.size() == ours.size(), "programs of one structure call the same instructions");
  std::set<std::string> names;
  for (size_t i = 0; i < theirs.size(); ++i) {
    const TensorCall from = tensor_call(*theirs[i]);
    const TensorCall to = tensor_call(*ours[i]);
    for (size_t k = 0; k < from.operands.size(); ++k) {
      if (is_given_stride(*from.intrinsic, k) && from.operands[k].strides != to.operands[k].strides)
        names.insert(from.operands[k].buffer->name);
    }
  }
  return names;
}

std::shared_ptr<const Workload> with_strides_of(const Workload& full, const Workload& smaller,
                                                const std::set<std::string>& names) {
  Workload made{smaller.program.clone(), smaller.name,     smaller.params, smaller.key, smaller.definition, 0,
                smaller.flops,           smaller.bytes_min};
  const std::vector<Buffer> theirs = full.program.buffers();
  const std::vector<Buffer> ours = made.program.buffers();
  check_invariant(theirs.size() == ours.size(), "instances of a workload have the same buffers");
  for (size_t i = 0; i < ours.size(); ++i) {
    const Buffer& buffer = ours[i];
    if (!names.contains(buffer->name)) continue;
    if (!std::ranges::equal(buffer->shape, theirs[i]->shape, std::less_equal())) return nullptr;
    made.program.swap_buffer(buffer, make_buffer(buffer->name, buffer->dtype, buffer->shape, buffer->scope,
                                                 buffer->constant, theirs[i]->effective_strides()));
  }
  made.hash = structural_hash(made.program);
  return std::make_shared<const Workload>(std::move(made));
}

}  // namespace tunesmith
