// Does a loop nest compute what a tensor intrinsic computes?
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tunesmith/intrinsics/tensor_intrinsic.h"
#include "tunesmith/ir/program.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// A loop nest around a single store.
struct StoreNest {
  std::vector<const Loop*> loops;  // outermost first
  const Store* store = nullptr;
};

/// Nothing if `stmt` has another form, or a loop is not serial or does not begin at 0.
std::optional<StoreNest> store_nest(const Stmt& stmt);

/// The operands of a nest in the intrinsic's order.
struct IntrinsicMatch {
  struct Operand {
    Buffer buffer;
    std::vector<Expr> first;       // indices of the first element: all loops of the nest are at 0
    std::vector<int64_t> strides;  // the intrinsic's; a free stride has this nest's value, 0 before layout
    Expr inside = {};              // as TensorCall::Operand's
  };
  std::vector<Operand> operands;
};

/// Compares up to the order of loops and of operands of sums and products, and checks the layout of operands.
/// Before lowering, the layout of the program's intermediates is unknown and not checked. `lowered`: accesses
/// have one index, the offset, and the caller checks their conditions. If they differ, `why` receives the
/// difference as a constant sentence.
std::optional<IntrinsicMatch> match_intrinsic(const TensorIntrinsic& intrinsic, const StoreNest& nest,
                                              const Program& program, bool lowered, std::string_view* why);

}  // namespace tunesmith
#pragma GCC visibility pop
