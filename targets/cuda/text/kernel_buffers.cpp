#include "text/kernel_buffers.h"

#include <algorithm>
#include <numeric>

#include "machine/execution.h"
#include "text/written_steps.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith::cuda {
namespace {

/// Alignment of the block of shared memory.
constexpr int64_t kBlockAlignment = 128;

/// Are the statement's inputs copied as boxes, through maps?
bool is_boxed(const Stmt& at) {
  return std::ranges::any_of(loops_above(at), [](const Loop* loop) {
    return is_call(*loop) && tensor_call(*loop).intrinsic->bulk_copy;
  });
}

}  // namespace

std::vector<Buffer> global_buffers(const LoweredProgram& lowered, const Stmt& launch) {
  std::vector<Buffer> known = lowered.program.buffers();
  for (const WorkspaceSlot& slot : lowered.workspace) known.push_back(slot.buffer);
  std::erase_if(known, [&](const Buffer& buffer) {
    bool used = false;
    walk_accesses(launch, [&](const Stmt& at, const AccessSite& access) {
      used = used || (access.buffer == buffer && (access.load == nullptr || !is_boxed(at)));
    });
    return !used;
  });
  return known;
}

bool is_written(const Stmt& launch, const Buffer& buffer) {
  return find_first<Store>(launch, [&](const Store& store) { return store.buffer == buffer; }) != nullptr;
}

const TensorOperand* held_as(const Allocate& at) {
  if (!is_held(at.buffer)) return nullptr;
  for (const Loop* loop : collect<Loop>(*at.body(), is_call)) {
    const TensorCall call = tensor_call(*loop);
    for (size_t i = 0; i < call.operands.size(); ++i) {
      const TensorOperand& operand = call.intrinsic->operands[i];
      if (call.operands[i].buffer == at.buffer && !operand.layout.empty()) return &operand;
    }
  }
  throw LowerError("cuda", "no call says how a group holds a buffer", at.buffer->name);
}

std::vector<const Allocate*> shared_allocations(const Stmt& stmt) {
  return collect<Allocate>(stmt, [](const Allocate& at) { return at.buffer->scope == kScopeShared; });
}

SharedPlan::SharedPlan(const Stmt& launch, const MemoryScope& scope) : alignment(kBlockAlignment) {
  std::vector<const Allocate*> buffers = shared_allocations(launch);
  std::erase_if(buffers, [](const Allocate* allocate) { return !allocate->offset; });
  std::ranges::sort(buffers, {}, [](const Allocate* allocate) { return *allocate->offset; });
  for (const Allocate* allocate : buffers) {
    alignment = std::lcm(alignment, scope.alignment_of(*allocate->buffer));
    shares = shares || *allocate->offset < bytes;
    bytes = std::max(bytes, *allocate->offset + allocate->buffer->bytes());
  }
}

}  // namespace tunesmith::cuda
