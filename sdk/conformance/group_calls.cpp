#include "group_calls.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tunesmith/analysis/accesses.h"
#include "tunesmith/ir/regions.h"
#include "tunesmith/trace/schedule.h"

namespace tunesmith::conformance {
namespace {

using Intrinsics = std::vector<TensorIntrinsicPtr>;

/// Do both operands hold the same elements in the same layout?
bool alike(const TensorOperand& one, const TensorOperand& other) {
  return one.layout == other.layout && one.buffer->dtype == other.buffer->dtype &&
         one.buffer->shape == other.buffer->shape;
}

/// The copy between memory and a group's operand `held`. `to`: into the group.
const TensorIntrinsic* find_copy(const Intrinsics& all, const TensorOperand& held, bool to) {
  const auto found = std::ranges::find_if(all, [&](const TensorIntrinsicPtr& one) {
    return one->operands.size() == 2 && one->block().init() == nullptr &&
           alike(one->operands[to ? 0 : 1], held) && one->operands[to ? 1 : 0].layout.empty();
  });
  return found == all.end() ? nullptr : found->get();
}

/// The intrinsic that fills `held` without reading anything.
const TensorIntrinsic* find_fill(const Intrinsics& all, const TensorOperand& held) {
  const auto found = std::ranges::find_if(all, [&](const TensorIntrinsicPtr& one) {
    return one->operands.size() == 1 && alike(one->operands[0], held);
  });
  return found == all.end() ? nullptr : found->get();
}

/// For each dimension of the copy's input, the corresponding dimension of its output.
std::vector<size_t> order_read(const TensorIntrinsic& copy) {
  const Access read = read_accesses(copy.block()).front();
  std::vector<size_t> order;
  for (const Expr& index : read.indices) {
    const auto found = std::ranges::find_if(copy.store().indices,
                                            [&](const Expr& written) { return written.same_as(index); });
    order.push_back(static_cast<size_t>(found - copy.store().indices.begin()));
  }
  return order;
}

bool is_elsewhere(const TensorOperand& operand) {
  return !operand.scope.empty() && operand.scope != kScopeGlobal;
}

class Caller {
 public:
  Caller(const TensorIntrinsic& intrinsic, const Intrinsics& all)
      : intrinsic_(intrinsic),
        all_(all),
        schedule_(intrinsic.semantics, RandomStream(0), std::make_shared<const TensorIntrinsics>(all)),
        block_(schedule_.get_block(intrinsic.block().name)),
        launch_(schedule_.split(schedule_.get_loops(block_).front(), {1, std::nullopt}).front()) {}

  std::optional<Program> make(const ExecutionModel& execution) {
    for (size_t i = 1; i < intrinsic_.operands.size(); ++i) {
      if (!bring(intrinsic_.operands[i])) return std::nullopt;
    }
    if (!take(intrinsic_.operands[0])) return std::nullopt;
    if (schedule_.block(block_).init() != nullptr) {
      const BlockRV init = schedule_.decompose_reduction(block_, inside(block_));
      if (!intrinsic_.operands[0].layout.empty()) {
        const TensorIntrinsic* fill = find_fill(all_, intrinsic_.operands[0]);
        if (fill == nullptr) return std::nullopt;
        schedule_.tensorize(inside(init), fill->name);
      }
    }
    schedule_.tensorize(inside(block_), intrinsic_.name);
    schedule_.bind(launch_, execution.axis_names().front());
    return schedule_.program().clone();
  }

 private:
  /// The outermost loop inside the launch loop.
  LoopRV inside(BlockRV block) { return schedule_.get_loops(block).at(1); }

  BlockRV copy_in(const Buffer& of, const std::string& scope) {
    return schedule_.cache_read(block_, read_of(of), scope);
  }

  /// The same, but dimension d of the copy is dimension `order`[d] of the operand.
  BlockRV copy_in(const Buffer& of, const std::string& scope, const std::vector<size_t>& order) {
    const Block& block = schedule_.block(block_);
    const std::vector<Expr> indices =
        read_accesses(intrinsic_.block()).at(static_cast<size_t>(read_of(of))).indices;
    std::vector<std::string> iters;
    for (size_t i = 0; i < block.iters.size(); ++i) iters.push_back(fmt::format("v{}", i));
    std::vector<std::string> places;
    for (const size_t d : order)
      places.push_back(
          iters.at(static_cast<size_t>(intrinsic_.block().iter_index(Var::from(indices.at(d))))));
    return schedule_.reindex_cache_read(
        block_, read_of(of), scope,
        fmt::format("({}) -> ({})", fmt::join(iters, ", "), fmt::join(places, ", ")));
  }

  int read_of(const Buffer& buffer) const {
    return static_cast<int>(std::ranges::find(intrinsic_.semantics.inputs, buffer) -
                            intrinsic_.semantics.inputs.begin());
  }

  bool bring(const TensorOperand& operand) {
    const TensorIntrinsic* load = operand.layout.empty() ? nullptr : find_copy(all_, operand, true);
    if (!operand.layout.empty() && load == nullptr) return false;
    const TensorOperand& first = load == nullptr ? operand : load->operands[1];
    const std::vector<size_t> order = load == nullptr ? std::vector<size_t>() : order_read(*load);
    const bool turned = !std::ranges::is_sorted(order);
    std::optional<BlockRV> near;
    if (is_elsewhere(first))
      near = turned ? copy_in(operand.buffer, first.scope, order) : copy_in(operand.buffer, first.scope);
    if (load != nullptr) {
      std::vector<size_t> own = order;
      std::ranges::sort(own);
      const BlockRV held =
          turned ? copy_in(operand.buffer, operand.scope, own) : copy_in(operand.buffer, operand.scope);
      schedule_.compute_at(held, launch_);
      schedule_.tensorize(inside(held), load->name);
    }
    if (near) schedule_.compute_at(*near, launch_);
    if (near && first.swizzled == TensorOperand::Swizzled::Always) schedule_.storage_swizzle(*near, 0);
    return true;
  }

  bool take(const TensorOperand& operand) {
    const TensorIntrinsic* store = operand.layout.empty() ? nullptr : find_copy(all_, operand, false);
    if (!operand.layout.empty() && store == nullptr) return false;
    const TensorOperand& last = store == nullptr ? operand : store->operands[0];
    std::optional<BlockRV> out;
    if (is_elsewhere(last)) out = schedule_.cache_write(block_, 0, last.scope);
    if (store != nullptr) {
      const BlockRV held = schedule_.cache_write(block_, 0, operand.scope);
      schedule_.reverse_compute_at(held, launch_);
      schedule_.tensorize(inside(held), store->name);
    }
    if (out) schedule_.reverse_compute_at(*out, launch_);
    return true;
  }

  const TensorIntrinsic& intrinsic_;
  const Intrinsics& all_;
  Schedule schedule_;
  const BlockRV block_;
  const LoopRV launch_;
};

}  // namespace

std::optional<Program> calling_together(const TensorIntrinsic& intrinsic, const Intrinsics& others,
                                        const ExecutionModel& execution) {
  return Caller(intrinsic, others).make(execution);
}

}  // namespace tunesmith::conformance
