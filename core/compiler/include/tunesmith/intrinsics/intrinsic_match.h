// Is a loop nest what a tensor intrinsic computes?
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tunesmith/intrinsics/tensor_intrinsic.h"
#include "tunesmith/ir/program.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// Loops around one store and nothing else.
struct StoreNest {
  std::vector<const Loop*> loops;  // outermost first
  const Store* store = nullptr;
};

/// Nothing when `stmt` is anything else, or a loop is not serial from 0.
std::optional<StoreNest> store_nest(const Stmt& stmt);

/// The operands of a nest as the intrinsic lists them, each at its first element.
struct IntrinsicMatch {
  struct Operand {
    Buffer buffer;
    std::vector<Expr> first;       // indices where all loops of the nest are at 0
    std::vector<int64_t> strides;  // as the intrinsic's; a free one as it is here, 0 while it is not laid out
  };
  std::vector<Operand> operands;
};

/// The two are the same up to the order of loops and of the operands of sums and products, and the operands
/// lie as the intrinsic wants. Before lowering that is asked only of operands that are no intermediates of
/// `program`: the others are not laid out yet. `lowered`: accesses have one index, the offset. On failure
/// `why` says what differs, as a constant sentence.
std::optional<IntrinsicMatch> match_intrinsic(const TensorIntrinsic& intrinsic, const StoreNest& nest,
                                              const Program& program, bool lowered, std::string_view* why);

}  // namespace tunesmith
#pragma GCC visibility pop
