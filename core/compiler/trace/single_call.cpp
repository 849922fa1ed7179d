#include "tunesmith/trace/single_call.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tunesmith/analysis/accesses.h"
#include "tunesmith/trace/schedule.h"

namespace tunesmith {
namespace {

/// The index map for transform_layout that gives an array the operand's order of dimensions in memory; "" for
/// row-major order.
std::string order_of(const TensorOperand& operand) {
  std::vector<size_t> order(operand.strides.size());
  std::iota(order.begin(), order.end(), size_t{0});
  // A free stride, written as 0, counts as the largest.
  const auto rank = [&](size_t d) {
    return operand.strides[d] == 0 ? std::numeric_limits<int64_t>::max() : operand.strides[d];
  };
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return rank(a) > rank(b); });
  if (std::ranges::is_sorted(order)) return {};
  std::vector<std::string> axes;
  std::vector<std::string> places;
  for (size_t d = 0; d < order.size(); ++d) {
    axes.push_back(fmt::format("d{}", d));
    places.push_back(fmt::format("d{}", order[d]));
  }
  return fmt::format("({}) -> ({})", fmt::join(axes, ", "), fmt::join(places, ", "));
}

bool has_free_stride(const TensorOperand& operand) {
  return operand.free_dimension() < operand.strides.size();
}

/// Does the operand need a copy with another scope or layout?
bool needs_copy(const TensorOperand& operand) {
  return !order_of(operand).empty() || has_free_stride(operand) ||
         (!operand.scope.empty() && operand.scope != kScopeGlobal);
}

/// Adds gaps after rows with a free stride, to detect implementations that assume contiguous
/// rows. `block` writes the operand, whose free dimension is the first of its copy.
void put_rows_apart(Schedule& schedule, BlockRV block, const TensorOperand& operand, int64_t least_stride) {
  if (!has_free_stride(operand)) return;
  const bool is_global = operand.scope.empty() || operand.scope == kScopeGlobal;
  const int64_t row = std::max(operand.buffer->elements() / operand.buffer->shape[operand.free_dimension()],
                               is_global ? least_stride - 1 : 0);
  schedule.storage_align(block, 0, 0, (row / operand.stride_multiple + 1) * operand.stride_multiple, 0);
}

int read_of(const Block& block, const Buffer& buffer) {
  const std::vector<Access> reads = read_accesses(block);
  const auto found = std::ranges::find(reads, buffer, &Access::buffer);
  return static_cast<int>(found - reads.begin());
}

/// Initial values of an accumulating intrinsic: different in each element,
/// to detect intrinsics that ignore them. Integers alternate between the
/// ends of their range, to detect intrinsics that do not wrap around.
void begin_with_numbers(Block& init) {
  Store* store = init.body()->as<Store>();
  if (store == nullptr) return;
  const DType type = store->buffer->dtype;
  Expr sum = int_imm(1);
  for (size_t i = 0; i < init.iters.size(); ++i) sum = sum + init.iters[i].var * static_cast<int64_t>(i + 1);
  const Expr number = cast(type, floormod(sum, int_imm(7)));
  if (type.code != TypeCode::Int) {
    store->value = number;
    return;
  }
  const int64_t highest =
      type.bits == 64 ? std::numeric_limits<int64_t>::max() : (int64_t{1} << (type.bits - 1)) - 1;
  const Expr turn = floormod(sum, int_imm(3));
  store->value = select(eq(turn, int_imm(0)), int_imm(highest, type) - number,
                        select(eq(turn, int_imm(1)), int_imm(-highest - 1, type) + number, number));
}

}  // namespace

Program single_call(const TensorIntrinsicPtr& called, int64_t least_stride) {
  const TensorIntrinsic& intrinsic = *called;
  Schedule schedule(intrinsic.semantics, RandomStream(0),
                    std::make_shared<const TensorIntrinsics>(std::vector{called}));
  const BlockRV block = schedule.get_block(intrinsic.block().name);
  for (size_t i = 0; i < intrinsic.operands.size(); ++i) {
    const TensorOperand& operand = intrinsic.operands[i];
    if (!needs_copy(operand)) continue;
    const std::string scope = operand.scope.empty() ? std::string(kScopeGlobal) : operand.scope;
    const std::string order = order_of(operand);
    if (i == 0) {
      schedule.cache_write(block, 0, scope);
      if (!order.empty()) schedule.transform_layout(block, "write", 0, order);
      put_rows_apart(schedule, block, operand, least_stride);
    } else {
      const BlockRV copy = schedule.cache_read(block, read_of(schedule.block(block), operand.buffer), scope);
      if (!order.empty()) schedule.transform_layout(copy, "write", 0, order);
      put_rows_apart(schedule, copy, operand, least_stride);
    }
  }
  const LoopRV outermost = schedule.get_loops(block).front();
  if (schedule.block(block).init() != nullptr)
    begin_with_numbers(schedule.block(schedule.decompose_reduction(block, outermost)));
  schedule.tensorize(outermost, intrinsic.name);
  return schedule.program().clone();
}

}  // namespace tunesmith
