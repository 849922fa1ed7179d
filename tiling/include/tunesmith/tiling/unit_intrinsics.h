// Chooses the intrinsics of a unit that multiply two factors,
// by the types of the block and the order of the factors' rows.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "tunesmith/stable/schedule.h"

namespace tunesmith {
inline namespace stable {

/// The product C += A * B.
struct ProductTypes {
  DType sum;
  std::array<DType, 2> factors;
};

/// Pointers into the unit.
struct UnitIntrinsics {
  const TensorIntrinsic* product = nullptr;
  std::array<const TensorIntrinsic*, 2> loads{};  // of the factors, into the product's operands
  const TensorIntrinsic* zero = nullptr;          // initialises sums
  const TensorIntrinsic* store = nullptr;         // stores sums
};

/// Does the product take A (0) or B (1) with the reduction as last dimension?
inline bool takes_reduction_last(const TensorIntrinsic& product, size_t factor) {
  const size_t last = product.reads.at(factor).indices.back().iterator.value();
  return product.iters.at(last).kind == IterKind::Reduction;
}
/// Does the load transpose?
inline bool exchanges_dimensions(const TensorIntrinsic& load) {
  return load.copies && load.reads.front().indices[0].iterator != load.writes.front().indices[0].iterator;
}

namespace detail {

/// Does the operand `taken` hold what another intrinsic leaves in `left`?
inline bool same_held(const TensorOperand& taken, const TensorOperand& left) {
  return taken.layout == left.layout && taken.scope == left.scope &&
         taken.buffer->dtype == left.buffer->dtype && taken.buffer->shape == left.buffer->shape;
}

inline bool is_product(const TensorIntrinsic& one, const ProductTypes& types, std::string_view held_scope) {
  return one.operands.size() == 3 && one.has_reduction() && one.operands[0].buffer->dtype == types.sum &&
         one.operands[1].buffer->dtype == types.factors[0] &&
         one.operands[2].buffer->dtype == types.factors[1] &&
         std::ranges::all_of(one.operands, [&](const TensorOperand& operand) {
           return operand.scope == held_scope && operand.buffer->shape.size() == 2;
         });
}

/// The first intrinsic for which `fits` holds, or null.
template <typename Fits>
const TensorIntrinsic* first_of(const std::vector<TensorIntrinsic>& unit, const Fits& fits) {
  const auto found = std::ranges::find_if(unit, fits);
  return found == unit.end() ? nullptr : &*found;
}

inline bool is_copy_of_matrix(const TensorIntrinsic& one) {
  return one.operands.size() == 2 && !one.has_reduction() && one.operands[1].buffer->shape.size() == 2;
}

}  // namespace detail

/// From `unit`: a product of these types, and intrinsics that load, initialise and store
/// in its layouts, between memory of the two scopes; loads that read the factors in the
/// given order are preferred, then the first. Nothing if there is no such product.
inline std::optional<UnitIntrinsics> choose_intrinsics(const std::vector<TensorIntrinsic>& unit,
                                                       const ProductTypes& types,
                                                       const std::array<bool, 2>& reduction_last,
                                                       std::string_view held_scope,
                                                       std::string_view shared_scope) {
  std::optional<UnitIntrinsics> best;
  int best_exchanged = 0;
  for (const TensorIntrinsic& product : unit) {
    if (!detail::is_product(product, types, held_scope)) continue;
    UnitIntrinsics chosen{.product = &product};
    int exchanged = 0;
    for (const size_t factor : {0U, 1U}) {
      const auto load = [&](bool any_order) {
        return detail::first_of(unit, [&](const TensorIntrinsic& one) {
          return detail::is_copy_of_matrix(one) && one.copies && one.operands[1].scope == shared_scope &&
                 detail::same_held(product.operands[factor + 1], one.operands[0]) &&
                 (any_order || (takes_reduction_last(product, factor) != exchanges_dimensions(one)) ==
                                   reduction_last[factor]);
        });
      };
      chosen.loads[factor] = load(false);
      if (chosen.loads[factor] != nullptr) continue;
      chosen.loads[factor] = load(true);
      ++exchanged;
    }
    chosen.zero = detail::first_of(unit, [&](const TensorIntrinsic& one) {
      return one.operands.size() == 1 && detail::same_held(product.operands[0], one.operands[0]);
    });
    chosen.store = detail::first_of(unit, [&](const TensorIntrinsic& one) {
      return detail::is_copy_of_matrix(one) && detail::same_held(one.operands[1], product.operands[0]) &&
             one.operands[0].scope == shared_scope;
    });
    const bool whole = chosen.loads[0] != nullptr && chosen.loads[1] != nullptr && chosen.zero != nullptr &&
                       chosen.store != nullptr;
    if (!whole || (best && best_exchanged <= exchanged)) continue;
    best = chosen;
    best_exchanged = exchanged;
  }
  return best;
}

}  // namespace stable
}  // namespace tunesmith
