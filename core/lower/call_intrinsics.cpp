#include <algorithm>

#include <fmt/format.h>

#include "intrinsics/intrinsic_match.h"
#include "lower/passes.h"
#include "tunesmith/affine/simplify.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith {
namespace {

/// The semantics over the operands where they lie.
StmtPtr make_call(Program& program, const TensorIntrinsic& intrinsic, const IntrinsicMatch& match) {
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
      offset = offset + substitute(indices[d], fresh) * intrinsic.operands[position].strides[d];
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
  return program.make_nest(loops, std::make_unique<Store>(to, std::vector<Expr>{at}, value));
}

void call_intrinsic(Program& program, Loop& loop, const LowerOptions& options) {
  const AnnotationValue annotation = loop.annotations.at(kTensorIntrinsic);
  const auto* name = std::get_if<std::string>(&annotation);
  const auto known = std::find_if(options.intrinsics.begin(), options.intrinsics.end(),
                                  [&](const auto& one) { return name != nullptr && one->name == *name; });
  loop.annotations.erase(kTensorIntrinsic);
  if (known == options.intrinsics.end()) return;  // the loops are the same, if slower
  std::string_view why = "the block computes something else";
  const auto nest = store_nest(loop);
  const auto match =
      nest ? match_intrinsic(**known, *nest, program, true, &why) : std::optional<IntrinsicMatch>();
  if (!match) throw LowerError("call_intrinsics", why, *name);
  StmtPtr call = make_call(program, **known, *match);
  Loop& outermost = *call->as<Loop>();
  outermost.annotations[kTensorIntrinsic] = *name;
  replace(loop, std::move(call));
  Store& store = *collect<Store>(outermost).front();
  const Analyzer analyzer = Analyzer::at(store);
  rewrite_exprs(store, [&](const Expr& part) -> Expr {
    const LoadNode* access = part.as<LoadNode>();
    return access == nullptr ? part : load(access->buffer, {analyzer.simplify(access->indices()[0])});
  });
  store.indices[0] = analyzer.simplify(store.indices[0]);
}

}  // namespace

void call_intrinsics(Program& program, const LowerOptions& options) {
  const auto is_call = [](const Loop& loop) { return loop.annotations.contains(kTensorIntrinsic); };
  for (Loop* loop : collect<Loop>(program.root(), is_call)) call_intrinsic(program, *loop, options);
}

}  // namespace tunesmith
