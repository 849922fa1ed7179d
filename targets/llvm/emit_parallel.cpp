#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "function_emitter.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith::llvm_target {

namespace {

/// The values that a loop's body uses from outside, in order of first appearance.
struct Captures {
  std::vector<Buffer> buffers;
  std::vector<Var> vars;
};

void add_buffer(std::vector<Buffer>& list, const Buffer& buffer) {
  if (std::ranges::find(list, buffer) == list.end()) list.push_back(buffer);
}

Captures captures_of(const Loop& loop) {
  Captures used;
  std::vector<Var> own_vars;
  const auto look = [&](const Expr& part) {
    if (const auto* access = part.as<LoadNode>()) add_buffer(used.buffers, access->buffer);
    if (part.is(ExprKind::Var) && std::ranges::find(used.vars, Var::from(part)) == used.vars.end()) {
      used.vars.push_back(Var::from(part));
    }
  };
  walk_expr(loop.min, look);
  own_vars.push_back(loop.var);
  walk(*loop.body(), [&](const Stmt& stmt) {
    visit_exprs(stmt, [&](const Expr& expr) { walk_expr(expr, look); });
    if (const auto* store = stmt.as<Store>()) add_buffer(used.buffers, store->buffer);
    if (const auto* inner = stmt.as<Loop>()) own_vars.push_back(inner->var);
  });
  std::erase_if(used.vars,
                [&](const Var& var) { return std::ranges::find(own_vars, var) != own_vars.end(); });
  return used;
}

}  // namespace

void FunctionEmitter::emit_parallel(const Loop& loop, const Linear& extent) {
  const Captures used = captures_of(loop);
  llvm::LLVMContext& context = function_->getContext();
  llvm::Type* i64 = ir_.getInt64Ty();

  // Outside: values that differ between calls go into the closure; the outlined function knows constants.
  std::vector<llvm::Value*> captured;
  std::vector<Buffer> buffers;
  for (const Buffer& buffer : used.buffers) {
    // Not bound yet: allocated inside the loop.
    const auto slot = buffers_.find(buffer.get());
    if (slot == buffers_.end()) continue;
    buffers.push_back(buffer);
    captured.push_back(slot->second.base);
  }
  for (const Var& var : used.vars) {
    const Linear outer = linear(var);
    if (!outer.is_constant()) captured.push_back(values_.value(outer));
  }
  std::vector<llvm::Type*> fields;
  for (const llvm::Value* value : captured) fields.push_back(value->getType());
  auto* closure_type = llvm::StructType::get(context, fields);
  llvm::Value* closure = values_.at_entry([&] { return ir_.CreateAlloca(closure_type, nullptr, "closure"); });
  for (unsigned i = 0; i < captured.size(); ++i) {
    ir_.CreateStore(captured[i], ir_.CreateStructGEP(closure_type, closure, i));
  }

  auto* chunk =
      llvm::Function::Create(llvm::FunctionType::get(ir_.getVoidTy(), {ir_.getPtrTy(), i64, i64}, false),
                             llvm::GlobalValue::InternalLinkage,
                             fmt::format("{}.loop{}", state_.symbol, state_.outlined++), state_.module);
  FunctionEmitter inner(state_, chunk, nullptr, nullptr);
  inner.past_cache_ = past_cache_;
  inner.in_nontemporal_ = in_nontemporal_;
  unsigned next = 0;
  const auto unpack = [&] {
    const unsigned field = next++;
    return inner.at_entry([&](llvm::IRBuilder<>& ir) {
      return ir.CreateLoad(fields[field], ir.CreateStructGEP(closure_type, chunk->getArg(0), field));
    });
  };
  for (const Buffer& buffer : buffers) inner.bind_buffer(buffer, unpack());
  for (const Var& var : used.vars) {
    const Linear outer = linear(var);
    inner.bind_var(var.get(), outer.is_constant() ? outer : inner.parameter(unpack(), values_.range(outer)));
  }
  const Interval counts = values_.range(extent);
  const Linear begin = inner.parameter(chunk->getArg(1), {0, counts.max});
  const Linear end = inner.parameter(chunk->getArg(2), {0, counts.max});
  inner.emit_chunk(loop, begin, end);
  inner.finish();

  auto* callee =
      llvm::FunctionType::get(ir_.getVoidTy(), {ir_.getPtrTy(), i64, ir_.getPtrTy(), ir_.getPtrTy()}, false);
  ir_.CreateCall(callee, parallel_for_, {pool_, values_.value(extent), chunk, closure});
}

void FunctionEmitter::emit_chunk(const Loop& loop, const Linear& begin, const Linear& end) {
  const Linear min = linear(loop.min);
  emit_rolled(loop, add_scaled(min, begin, 1), add_scaled(min, end, 1));
}

}  // namespace tunesmith::llvm_target
