#include <fmt/format.h>

#include "analysis/accesses.h"
#include "analysis/buffer_uses.h"
#include "primitives/primitives.h"
#include "trace/kind_builder.h"
#include "tunesmith/analysis/storage_alignment.h"

namespace tunesmith {

void storage_align(Program& program, BlockId id, int64_t write_index, int64_t axis, int64_t factor,
                   int64_t offset) {
  Block& block = block_at(program, id, "storage_align");
  const Buffer buffer = require_access(program, block, "write", write_index, "storage_align").buffer;
  const auto refuse = [&](std::string_view reason, const std::string& detail) {
    throw ScheduleError("storage_align", reason, detail, program, &block);
  };
  if (!is_intermediate(program, buffer))
    refuse("the buffer is not an intermediate of the program", buffer->name);
  const auto rank = static_cast<int64_t>(buffer->shape.size());
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) refuse("the buffer has no such dimension", fmt::format("of {}", rank));
  if (factor < 1 || factor > (int64_t{1} << 20))
    refuse("the factor is not between 1 and 2^20", fmt::format("{}", factor));
  if (offset < 0 || offset >= factor) refuse("the offset is not below the factor", fmt::format("{}", offset));
  if (buffers_written(block).size() != 1) refuse("the block does not write exactly one buffer", block.name);
  if (block.annotations.count(kStorageAlign) != 0) refuse("the buffer is already aligned", buffer->name);
  if (block.annotations.contains(kStorageSwizzle)) refuse("the buffer is swizzled", buffer->name);
  block.annotations[kStorageAlign] = StorageAlignment{static_cast<size_t>(axis), factor, offset}.str();
}

KindPtr storage_align_kind() {
  return make_loop_transformation("storage_align", storage_align,
                                  {"block", "write_index", "axis", "factor", "offset"});
}

void Schedule::storage_align(BlockRV block, int write_index, int axis, int64_t factor, int64_t offset) {
  execute(kind("storage_align"), {block, int64_t{write_index}, int64_t{axis}, factor, offset});
}

}  // namespace tunesmith
