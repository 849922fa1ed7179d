#include "tunesmith/ir/fresh_copy.h"

#include "tunesmith/ir/lowered_stmt.h"
#include "tunesmith/support/error.h"

namespace tunesmith {
namespace {

StmtPtr copy_loop(Program& program, const Loop& loop, Substitution* fresh) {
  const Var var(loop.var->name);
  const Expr min = substitute(loop.min, *fresh);
  const Expr extent = substitute(loop.extent, *fresh);
  fresh->set(loop.var, var);
  std::unique_ptr<Loop> copy = program.make_loop(var, 1, fresh_copy(program, *loop.body(), fresh));
  copy->min = min;
  copy->extent = extent;
  copy->loop_kind = loop.loop_kind;
  copy->thread = loop.thread;
  copy->annotations = loop.annotations;
  return copy;
}

StmtPtr copy_block(Program& program, const Block& block, Substitution* fresh) {
  std::vector<IterVar> iters;
  std::vector<Expr> bindings = substitute(block.bindings, *fresh);
  for (const IterVar& iter : block.iters) iters.push_back({Var(iter.var->name), iter.extent, iter.kind});
  for (size_t i = 0; i < iters.size(); ++i) fresh->set(block.iters[i].var, iters[i].var);
  StmtPtr init = block.init() != nullptr ? fresh_copy(program, *block.init(), fresh) : nullptr;
  std::unique_ptr<Block> copy =
      program.make_block(block.name, std::move(iters), std::move(bindings), std::move(init),
                         fresh_copy(program, *block.body(), fresh));
  copy->predicate = substitute(block.predicate, *fresh);
  copy->annotations = block.annotations;
  return copy;
}

StmtPtr copy_allocate(Program& program, const Allocate& allocate, Substitution* fresh) {
  const Buffer& old = allocate.buffer;
  const Buffer own = make_buffer(program.fresh_buffer_name(old->name), old->dtype, old->shape, old->scope,
                                 old->constant, old->strides, old->swizzle);
  auto copy = std::make_unique<Allocate>(own, fresh_copy(program, *allocate.body(), fresh));
  copy->offset = allocate.offset;
  replace_buffer_in(*copy, old, own);
  return copy;
}

}  // namespace

StmtPtr fresh_copy(Program& program, const Stmt& stmt, Substitution* fresh) {
  switch (stmt.kind) {
    case StmtKind::Loop:
      return copy_loop(program, static_cast<const Loop&>(stmt), fresh);
    case StmtKind::Block:
      return copy_block(program, static_cast<const Block&>(stmt), fresh);
    case StmtKind::Seq: {
      std::vector<StmtPtr> children;
      for (const StmtPtr& child : static_cast<const Seq&>(stmt).children())
        children.push_back(fresh_copy(program, *child, fresh));
      return std::make_unique<Seq>(std::move(children));
    }
    case StmtKind::If: {
      const auto& branch = static_cast<const If&>(stmt);
      StmtPtr otherwise =
          branch.else_case() != nullptr ? fresh_copy(program, *branch.else_case(), fresh) : nullptr;
      return std::make_unique<If>(substitute(branch.condition, *fresh),
                                  fresh_copy(program, *branch.then_case(), fresh), std::move(otherwise));
    }
    case StmtKind::Store: {
      StmtPtr copy = stmt.clone();
      substitute_in(*copy, *fresh);
      return copy;
    }
    case StmtKind::AsyncGroup:
      return std::make_unique<AsyncGroup>(
          fresh_copy(program, *static_cast<const AsyncGroup&>(stmt).body(), fresh));
    case StmtKind::Handover: {
      const auto& handover = static_cast<const Handover&>(stmt);
      StmtPtr produce = fresh_copy(program, *handover.produce(), fresh);
      return std::make_unique<Handover>(handover.axis, handover.versions, std::move(produce),
                                        fresh_copy(program, *handover.consume(), fresh));
    }
    case StmtKind::Barrier:
    case StmtKind::AsyncWait:
      return stmt.clone();
    case StmtKind::Allocate:
      return copy_allocate(program, static_cast<const Allocate&>(stmt), fresh);
  }
  throw InternalError("a statement of no kind");
}

Substitution fresh_vars(std::span<Loop* const> loops) {
  Substitution fresh;
  for (const Loop* loop : loops) fresh.set(loop->var, Var(loop->var->name));
  return fresh;
}

StmtPtr copy_loops(Program& program, std::span<Loop* const> loops, const Substitution& fresh, StmtPtr body) {
  for (size_t i = loops.size(); i-- > 0;) {
    std::unique_ptr<Loop> copy = program.make_loop(Var::from(*fresh.find(loops[i]->var.get())),
                                                   loops[i]->const_extent(), std::move(body));
    copy->loop_kind = loops[i]->loop_kind;
    copy->thread = loops[i]->thread;
    body = std::move(copy);
  }
  return body;
}

}  // namespace tunesmith
