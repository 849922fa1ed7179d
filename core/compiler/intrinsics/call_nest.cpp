#include "tunesmith/intrinsics/call_nest.h"

#include "tunesmith/ir/visit.h"

namespace tunesmith {

StmtPtr call_nest(Program& program, const TensorIntrinsicPtr& called, const IntrinsicMatch& match) {
  const TensorIntrinsic& intrinsic = *called;
  const Block& block = intrinsic.block();
  Substitution fresh;
  std::vector<IterDomain> loops;
  for (const IterVar& iter : block.iters) {
    loops.push_back({Var(iter.var->name), iter.extent});
    fresh.set(iter.var, loops.back().var);
  }
  const auto given = [&](const Buffer& buffer) -> const IntrinsicMatch::Operand& {
    size_t position = 0;
    while (intrinsic.operands[position].buffer != buffer) ++position;
    return match.operands[position];
  };
  const auto place = [&](const IntrinsicMatch::Operand& operand, std::span<const Expr> indices) {
    Expr offset = operand.first.front();
    for (size_t d = 0; d < indices.size(); ++d)
      offset = offset + substitute(indices[d], fresh) * operand.strides[d];
    return offset;
  };
  const Store& store = intrinsic.store();
  const IntrinsicMatch::Operand& to = given(store.buffer);
  const Expr value = rewrite_expr(store.value, [&](const Expr& part) -> Expr {
    const LoadNode* old = part.as<LoadNode>();
    if (old == nullptr) return part;
    const IntrinsicMatch::Operand& from = given(old->buffer);
    const Expr offset = place(from, old->indices());
    if (!from.inside) return load(from.buffer, {offset});
    const Expr inside = substitute(from.inside, fresh);
    const Expr read = load(from.buffer, {offset}, inside);
    return select(inside, read, constant(0, read.dtype()));
  });
  StmtPtr nest = program.make_nest(
      loops, std::make_unique<Store>(to.buffer, std::vector<Expr>{place(to, store.indices)}, value));
  Annotations& annotations = nest->as<Loop>()->annotations;
  annotations[kTensorIntrinsic] = intrinsic.name;
  annotations[kTensorContent] = TensorIntrinsics::global().content_of(called);
  return nest;
}

}  // namespace tunesmith
