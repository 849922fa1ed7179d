#include "check_plan.h"

#include <algorithm>

#include "tunesmith/network/plan_memory.h"
#include "tunesmith/support/error.h"

namespace tunesmith::network {
namespace {

void check_place(const LibraryPlan& plan, const BufferPlace& place) {
  const int64_t moved = place.advance * (place.period - 1);
  const int64_t last = place.begin + std::max<int64_t>(moved, 0);
  check_invariant(place.begin + std::min<int64_t>(moved, 0) >= 0 && place.period > 0,
                  "a part begins in its tensor");
  switch (place.kind) {
    case BufferPlace::Kind::Input:
      check_invariant(place.at >= 0 && place.at < static_cast<int64_t>(plan.inputs.size()),
                      "a step reads an input that there is");
      return;
    case BufferPlace::Kind::Output:
      check_invariant(place.at >= 0 && place.at < static_cast<int64_t>(plan.outputs.size()),
                      "a step writes an output that there is");
      return;
    case BufferPlace::Kind::Arena:
    case BufferPlace::Kind::Weights:
      break;
  }
  const int64_t end = place.kind == BufferPlace::Kind::Arena ? plan.arena_bytes : plan.weight_bytes;
  check_invariant(place.at >= 0 && place.at <= end - last && place.at % kTensorAlignment == 0,
                  "a buffer lies in its memory, and aligned");
}

}  // namespace

void check_plan(const LibraryPlan& plan) {
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const LibraryStep& step = plan.steps[i];
    check_invariant(step.trips > 0 && step.back_to <= i, "a loop goes back");
    for (const BufferPlace& place : step.buffers) check_place(plan, place);
    check_place(plan, {BufferPlace::Kind::Arena, step.workspace});
    check_invariant(step.workspace + step.kernel->workspace_bytes <= plan.arena_bytes,
                    "a kernel's workspace lies in the arena");
  }
  for (const WeightPiece& piece : plan.weights) {
    check_invariant(piece.at >= 0 && piece.at + static_cast<int64_t>(piece.bytes.size()) <= plan.weight_bytes,
                    "weights lie in their file");
  }
}

bool reads_buffer(const CompiledKernel& kernel, size_t position) {
  return !kernel.prepare ||
         std::ranges::find(kernel.prepare->unread, position) == kernel.prepare->unread.end();
}

}  // namespace tunesmith::network
