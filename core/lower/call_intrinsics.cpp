#include <algorithm>

#include <fmt/format.h>

#include "intrinsics/intrinsic_match.h"
#include "lower/passes.h"
#include "tunesmith/affine/simplify.h"

namespace tunesmith {
namespace {

/// The semantics over the operands where they lie.
StmtPtr make_call(Program& program, const TensorIntrinsic& intrinsic, const IntrinsicMatch& match) {
  const Block& block = intrinsic.block();
  Substitution fresh;
  std::vector<Var> vars;
  for (const IterVar& iter : block.iters) {
    vars.emplace_back(iter.var->name);
    fresh.set(iter.var, vars.back());
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
  const Expr value = transform(store.value, [&](const Expr& part) -> Expr {
    const LoadNode* old = part.as<LoadNode>();
    if (old == nullptr) return part;
    Buffer from;
    const Expr offset = place(old->buffer, old->indices(), &from);
    return load(from, {offset});
  });
  StmtPtr nest = std::make_unique<Store>(to, std::vector<Expr>{at}, value);
  for (size_t i = vars.size(); i-- > 0;)
    nest = program.make_loop(vars[i], block.iters[i].extent, std::move(nest));
  return nest;
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
  for_each_stmt(outermost, [&](Stmt& stmt) {
    if (stmt.kind == StmtKind::Loop) return;
    const Analyzer analyzer = Analyzer::at(stmt);
    transform_exprs(
        stmt,
        [&](const Expr& expr) {
          return transform(expr, [&](const Expr& part) -> Expr {
            const LoadNode* access = part.as<LoadNode>();
            return access == nullptr ? part : load(access->buffer, {analyzer.simplify(access->indices()[0])});
          });
        },
        /*deep=*/false);
    Store& store = *stmt.as<Store>();
    store.indices[0] = analyzer.simplify(store.indices[0]);
  });
}

}  // namespace

void call_intrinsics(Program& program, const LowerOptions& options) {
  std::vector<Loop*> calls;
  for_each_stmt(program.root(), [&](Stmt& stmt) {
    Loop* loop = stmt.as<Loop>();
    if (loop != nullptr && loop->annotations.contains(kTensorIntrinsic)) calls.push_back(loop);
  });
  for (Loop* loop : calls) call_intrinsic(program, *loop, options);
}

}  // namespace tunesmith
