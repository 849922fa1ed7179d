#include "unit_intrinsics.h"

#include <algorithm>

#include "tunesmith/analysis/accesses.h"

namespace tunesmith {
namespace {

/// Does `held`, that one intrinsic takes, hold what another leaves?
bool same_held(const TensorOperand& taken, const TensorOperand& left) {
  return taken.layout == left.layout && taken.scope == left.scope &&
         taken.buffer->dtype == left.buffer->dtype && taken.buffer->shape == left.buffer->shape;
}

bool is_product(const TensorIntrinsic& one, const ProductTypes& types, const GroupTiling& tiling) {
  return one.operands.size() == 3 && one.block().has_reduction() &&
         one.operands[0].buffer->dtype == types.sum && one.operands[1].buffer->dtype == types.factors[0] &&
         one.operands[2].buffer->dtype == types.factors[1] &&
         std::ranges::all_of(one.operands, [&](const TensorOperand& operand) {
           return operand.scope == tiling.held_scope && operand.buffer->shape.size() == 2;
         });
}

/// The first that goes from an operand in one scope to one in another.
TensorIntrinsicPtr copy_between(const std::vector<TensorIntrinsicPtr>& unit, const auto& fits) {
  const auto found = std::ranges::find_if(unit, [&](const TensorIntrinsicPtr& one) {
    return one->operands.size() == 2 && !one->block().has_reduction() &&
           one->operands[1].buffer->shape.size() == 2 && fits(*one);
  });
  return found == unit.end() ? nullptr : *found;
}

}  // namespace

bool takes_reduction_last(const TensorIntrinsic& product, size_t factor) {
  const Access read = read_accesses(product.block()).at(factor);
  const int last = product.block().iter_index(Var::from(read.indices.back()));
  return product.block().iters.at(static_cast<size_t>(last)).kind == IterKind::Reduction;
}

bool turns(const TensorIntrinsic& load) {
  const LoadNode* from = load.store().value.as<LoadNode>();
  return from != nullptr && !from->indices()[0].same_as(load.store().indices[0]);
}

std::optional<UnitIntrinsics> choose_intrinsics(const std::vector<TensorIntrinsicPtr>& unit,
                                                const ProductTypes& types,
                                                const std::array<bool, 2>& reduction_last,
                                                const GroupTiling& tiling) {
  std::optional<UnitIntrinsics> best;
  int best_turned = 0;
  for (const TensorIntrinsicPtr& product : unit) {
    if (!is_product(*product, types, tiling)) continue;
    UnitIntrinsics chosen{product, {}, nullptr, nullptr};
    int turned = 0;
    for (const size_t factor : {0U, 1U}) {
      const auto load = [&](bool any_order) {
        return copy_between(unit, [&](const TensorIntrinsic& one) {
          return same_held(product->operands[factor + 1], one.operands[0]) &&
                 one.operands[1].scope == tiling.shared_scope && one.store().value.is(ExprKind::Load) &&
                 (any_order ||
                  (takes_reduction_last(*product, factor) != turns(one)) == reduction_last[factor]);
        });
      };
      chosen.loads[factor] = load(false);
      if (chosen.loads[factor] != nullptr) continue;
      chosen.loads[factor] = load(true);
      ++turned;
    }
    const auto zero = std::ranges::find_if(unit, [&](const TensorIntrinsicPtr& one) {
      return one->operands.size() == 1 && same_held(product->operands[0], one->operands[0]);
    });
    if (zero != unit.end()) chosen.zero = *zero;
    chosen.store = copy_between(unit, [&](const TensorIntrinsic& one) {
      return same_held(one.operands[1], product->operands[0]) && one.operands[0].scope == tiling.shared_scope;
    });
    const bool whole = chosen.loads[0] != nullptr && chosen.loads[1] != nullptr && chosen.zero != nullptr &&
                       chosen.store != nullptr;
    if (!whole || (best && best_turned <= turned)) continue;
    best = chosen;
    best_turned = turned;
  }
  return best;
}

}  // namespace tunesmith
