#include "ir/structural_hash.h"
#include "tunesmith/lower/lower.h"

namespace tunesmith {
namespace {

void add_layout(StructuralHasher& hasher, const std::vector<WorkspaceSlot>& slots, int64_t bytes) {
  hasher.number(slots.size());
  for (const WorkspaceSlot& slot : slots) {
    hasher.buffer(slot.buffer);
    hasher.number(static_cast<uint64_t>(slot.offset));
  }
  hasher.number(static_cast<uint64_t>(bytes));
}

void add(StructuralHasher& hasher, const LoweredProgram& lowered) {
  hasher.program(lowered.program);
  add_layout(hasher, lowered.workspace, lowered.workspace_bytes);
  add_layout(hasher, lowered.prepared, lowered.prepared_bytes);
  hasher.number(lowered.prepare != nullptr);
  // One hasher for both, so that shared buffers and variables have the same numbers in the preparation.
  if (lowered.prepare) add(hasher, *lowered.prepare);
}

}  // namespace

uint64_t lowered_hash(const LoweredProgram& lowered) {
  StructuralHasher hasher;
  add(hasher, lowered);
  return hasher.result();
}

}  // namespace tunesmith
