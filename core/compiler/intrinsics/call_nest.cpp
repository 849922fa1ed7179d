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
  const auto place = [&](const Buffer& buffer, std::span<const Expr> indices, Buffer* given) {
    size_t position = 0;
    while (intrinsic.operands[position].buffer != buffer) ++position;
    *given = match.operands[position].buffer;
    Expr offset = match.operands[position].first.front();
    for (size_t d = 0; d < indices.size(); ++d)
      offset = offset + substitute(indices[d], fresh) * match.operands[position].strides[d];
    return offset;
  };
  const Store& store = intrinsic.store();
  Buffer to;
  const Expr at = place(store.buffer, store.indices, &to);
  const Expr value = rewrite_expr(store.value, [&](const Expr& part) -> Expr {
    const LoadNode* old = part.as<LoadNode>();
    if (old == nullptr) return part;
    Buffer from;
    const Expr offset = place(old->buffer, old->indices(), &from);
    return load(from, {offset});
  });
  StmtPtr nest = program.make_nest(loops, std::make_unique<Store>(to, std::vector<Expr>{at}, value));
  Annotations& annotations = nest->as<Loop>()->annotations;
  annotations[kTensorIntrinsic] = intrinsic.name;
  annotations[kTensorContent] = TensorIntrinsics::global().content_of(called);
  return nest;
}

}  // namespace tunesmith
