#include <algorithm>

#include "analysis/accesses.h"
#include "analysis/buffer_uses.h"
#include "primitives/primitives.h"
#include "trace/kind_builder.h"
#include "tunesmith/analysis/storage_alignment.h"
#include "tunesmith/intrinsics/tensor_intrinsic.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith {
namespace {

bool touches(const Block& block, const Buffer& buffer) {
  bool found = false;
  walk_accesses(block,
                [&](const Stmt&, const AccessSite& access) { found = found || access.buffer == buffer; });
  return found;
}

/// Does the block call an intrinsic with an operand for this buffer and scope that must not be swizzled?
bool wants_plain_rows(const Block& block, const Buffer& buffer, const TensorIntrinsics& intrinsics) {
  const auto name = block.annotations.find(kTensorIntrinsic);
  if (name == block.annotations.end() || !touches(block, buffer)) return false;
  const TensorIntrinsicPtr intrinsic = intrinsics.find(std::get<std::string>(name->second));
  return intrinsic != nullptr && std::ranges::any_of(intrinsic->operands, [&](const TensorOperand& operand) {
           return (operand.scope.empty() || operand.scope == buffer->scope) &&
                  operand.buffer->dtype == buffer->dtype && operand.swizzled == TensorOperand::Swizzled::No;
         });
}

}  // namespace

void storage_swizzle(Program& program, BlockId id, int64_t write_index, const TensorIntrinsics& intrinsics) {
  Block& block = block_at(program, id, "storage_swizzle");
  const Buffer buffer = require_access(program, block, "write", write_index, "storage_swizzle").buffer;
  const auto refuse = [&](std::string_view reason, const std::string& detail) {
    throw ScheduleError("storage_swizzle", reason, detail, program, &block);
  };
  if (!is_intermediate(program, buffer))
    refuse("the buffer is not an intermediate of the program", buffer->name);
  if (buffers_written(block).size() != 1) refuse("the block does not write exactly one buffer", block.name);
  for (const Block* writer : uses_of(program, buffer, enclosing_block(block)).writers) {
    if (writer->annotations.contains(kStorageAlign)) refuse("the buffer's rows are aligned", buffer->name);
    if (writer->annotations.contains(kStorageSwizzle)) refuse("the buffer is already swizzled", buffer->name);
  }
  for (const Block* caller : program.blocks()) {
    if (wants_plain_rows(*caller, buffer, intrinsics))
      refuse("a call of an intrinsic requires unswizzled rows", caller->name);
  }
  block.annotations[kStorageSwizzle] = int64_t{1};
}

KindPtr storage_swizzle_kind() {
  return make_loop_transformation(
      "storage_swizzle", {{{"block", ParamType::Block}, {"write_index", ParamType::Int}},
                          ResultType::None,
                          [](Program& program, const Arguments& args) -> std::vector<Value> {
                            storage_swizzle(program, args.block(0), args.integer(1), args.intrinsics());
                            return {};
                          }});
}

void Schedule::storage_swizzle(BlockRV block, int write_index) {
  execute(kind("storage_swizzle"), {block, int64_t{write_index}});
}

}  // namespace tunesmith
