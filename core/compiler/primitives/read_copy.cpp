#include <algorithm>

#include "analysis/accesses.h"
#include "analysis/buffer_uses.h"
#include "analysis/loop_tools.h"
#include "primitives/primitives.h"
#include "primitives/shared/copy_nest.h"
#include "trace/kind_builder.h"
#include "tunesmith/ir/tree_surgery.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith {
namespace {

/// Does the block store each element of `from` at the same place of another buffer, and nothing else?
bool copies_in_place(const Block& block, const Buffer& from) {
  const Store* store = body_store(block);
  const LoadNode* load = store == nullptr || block.has_reduction() ? nullptr : store->value.as<LoadNode>();
  return load != nullptr && load->buffer == from && !load->mask() && store->buffer->dtype == from->dtype &&
         store->buffer->shape == from->shape && equal_indices(load->indices(), store->indices) &&
         writes_everything(block, store->buffer);
}

std::optional<Refusal> read_copy_refusal(const Program& program, Block& block, const Access& access,
                                         Block& copy) {
  if (!copies_in_place(copy, access.buffer))
    return Refusal{"the other block does not copy all of the buffer", copy.name, &copy};
  if (enclosing_block(copy) != enclosing_block(block))
    return Refusal{"the copy stands in another scope than the block", copy.name, &copy};
  if (!precedes(copy, outermost_in_scope(block)))
    return Refusal{"the copy does not stand before the loop nest of the block", copy.name, &copy};
  Stage stage;
  if (auto refusal = stage_refusal(program, copy, &stage)) return refusal;
  // Nothing may write the buffer after it is copied.
  return copy_before_refusal(program, copy, access.buffer);
}

}  // namespace

void read_copy(Program& program, BlockId id, int64_t read_index, BlockId copy_id) {
  Block& block = block_at(program, id, "read_copy");
  Block& copy = block_at(program, copy_id, "read_copy");
  const Access access = require_access(program, block, "read", read_index, "read_copy");
  throw_refusal("read_copy", program, read_copy_refusal(program, block, access, copy));
  redirect_reads(block, access, body_store(copy)->buffer, access.indices);
}

KindPtr read_copy_kind() {
  return make_transformation("read_copy", read_copy, {"block", "read_index", "copy"});
}

}  // namespace tunesmith
