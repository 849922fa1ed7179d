#include <fmt/format.h>
#include <llvm/IR/MDBuilder.h>

#include "emit_error.h"
#include "float_convert.h"
#include "function_emitter.h"
#include "tunesmith/intrinsics/tensor_intrinsic.h"

namespace tunesmith::llvm_target {

FunctionEmitter::FunctionEmitter(ModuleState& state, llvm::Function* function, llvm::Value* parallel_for,
                                 llvm::Value* pool)
    : state_(state),
      function_(function),
      ir_(function->getContext()),
      values_(ir_),
      parallel_for_(parallel_for),
      pool_(pool),
      scope_domain_(llvm::MDBuilder(function->getContext()).createAnonymousAliasScopeDomain()) {
  llvm::BasicBlock* entry = new_block("entry");
  ir_.SetInsertPoint(entry);
  llvm::FastMathFlags flags;
  flags.setAllowContract(state.traits.contract);
  flags.setAllowReassoc(state.traits.reassociate);
  ir_.setFastMathFlags(flags);
  values_.enter(entry);
}

void FunctionEmitter::bind_buffer(const Buffer& buffer, llvm::Value* base) {
  BufferSlot slot;
  slot.base = base;
  slot.id = next_buffer_id_++;
  slot.in_registers = buffer->scope == kScopeRegister;
  if (!slot.in_registers) {
    // One of two accesses suffices to say that they do not overlap: that of the buffer bound later.
    llvm::LLVMContext& context = ir_.getContext();
    llvm::MDNode* scope = llvm::MDBuilder(context).createAnonymousAliasScope(scope_domain_);
    slot.aliasing.Scope = llvm::MDNode::get(context, scope);
    if (!buffer_scopes_.empty()) slot.aliasing.NoAlias = llvm::MDNode::get(context, buffer_scopes_);
    buffer_scopes_.push_back(scope);
  }
  buffers_[buffer.get()] = slot;
}

llvm::BasicBlock* FunctionEmitter::new_block(const char* name) {
  return llvm::BasicBlock::Create(function_->getContext(), name, function_);
}

void FunctionEmitter::finish() {
  finish_nontemporal();
  ir_.CreateRetVoid();
  values_.leave();
}

void FunctionEmitter::emit(const Stmt& stmt) {
  switch (stmt.kind) {
    case StmtKind::Seq:
      for (const StmtPtr& child : static_cast<const Seq&>(stmt).children()) emit(*child);
      return;
    case StmtKind::Loop:
      emit_loop(static_cast<const Loop&>(stmt));
      return;
    case StmtKind::Store:
      statement_values_.clear();
      store(static_cast<const Store&>(stmt));
      return;
    case StmtKind::If:
      emit_if(static_cast<const If&>(stmt));
      return;
    case StmtKind::Allocate:
      emit_allocate(static_cast<const Allocate&>(stmt));
      return;
    case StmtKind::AsyncGroup:  // what may arrive late may arrive at once
      emit(*static_cast<const AsyncGroup&>(stmt).body());
      return;
    case StmtKind::AsyncWait:
      return;
    case StmtKind::Barrier:
    case StmtKind::Handover:
      throw EmitError("a barrier stands in a program for threads that share no level");
    case StmtKind::Block:
      throw EmitError(fmt::format("block {} was not lowered", static_cast<const Block&>(stmt).name));
  }
}

void FunctionEmitter::emit_loop(const Loop& loop) {
  if (loop.annotations.contains(kTensorIntrinsic)) return emit_intrinsic(loop);
  if (begins_nontemporal(loop)) return emit_nontemporal(loop);
  if (loop.loop_kind == LoopKind::Vectorized || loop.loop_kind == LoopKind::Bound) {
    throw EmitError(fmt::format("a {} loop was not lowered", loop_kind_name(loop.loop_kind)));
  }
  statement_values_.clear();
  const Linear min = linear(loop.min);
  const Linear extent = linear(loop.extent);
  if (extent.is_constant() && extent.constant <= 0) return;
  if (extent.is_constant() && extent.constant == 1) {
    vars_[loop.var.get()] = min;
    emit(*loop.body());
    return;
  }
  if (loop.loop_kind == LoopKind::Unrolled && min.is_constant() && extent.is_constant()) {
    emit_unrolled(loop, min.constant, extent.constant);
  } else if (loop.loop_kind == LoopKind::Parallel && parallel_for_ != nullptr) {
    emit_parallel(loop, extent);
  } else {
    emit_rolled(loop, min, add_scaled(min, extent, 1));
  }
}

void FunctionEmitter::emit_unrolled(const Loop& loop, int64_t min, int64_t extent) {
  for (int64_t i = min; i < min + extent; ++i) {
    vars_[loop.var.get()] = Linear(i);
    emit(*loop.body());
  }
}

/// A rotated loop over [begin, end): the test is at the end of the body.
void FunctionEmitter::emit_rolled(const Loop& loop, const Linear& begin, const Linear& end) {
  const Interval begin_range = values_.range(begin), end_range = values_.range(end);
  llvm::Value* first = values_.value(begin);
  llvm::Value* last = values_.value(end);
  const auto rotated = [&] {
    llvm::BasicBlock* before = ir_.GetInsertBlock();
    llvm::BasicBlock* body = new_block("loop");
    llvm::BasicBlock* after = new_block("after");
    ir_.CreateBr(body);
    ir_.SetInsertPoint(body);
    llvm::PHINode* index = ir_.CreatePHI(ir_.getInt64Ty(), 2, loop.var->name);
    index->addIncoming(first, before);
    vars_[loop.var.get()] = values_.enter_loop(
        body, index, {begin_range.min, end_range.max >= Interval::kMax ? Interval::kMax : end_range.max - 1});
    rolled_.push_back({vars_.at(loop.var.get()), begin.known(), add_scaled(end, begin, -1).known()});
    emit_prefetches(loop);
    emit_prefetch_behind(loop);
    emit(*loop.body());
    rolled_.pop_back();
    values_.leave();
    llvm::Value* next =
        ir_.CreateAdd(index, ir_.getInt64(1), "", /*HasNUW=*/begin_range.min >= 0, /*HasNSW=*/true);
    index->addIncoming(next, ir_.GetInsertBlock());
    ir_.CreateCondBr(ir_.CreateICmpNE(next, last), body, after);
    ir_.SetInsertPoint(after);
    pass_sums_through_memory(loop);
  };
  if (values_.range(add_scaled(end, begin, -1)).min > 0) {
    rotated();
  } else {
    emit_guarded(ir_.CreateICmpSLT(first, last), rotated);
  }
}

void FunctionEmitter::emit_guarded(llvm::Value* condition, const Emit& when_true, const Emit& when_false) {
  llvm::BasicBlock* then = new_block("then");
  llvm::BasicBlock* otherwise = when_false ? new_block("else") : nullptr;
  llvm::BasicBlock* after = new_block("after");
  ir_.CreateCondBr(condition, then, when_false ? otherwise : after);
  const auto branch = [&](llvm::BasicBlock* block, const Emit& body) {
    ir_.SetInsertPoint(block);
    values_.enter(block);
    body();
    values_.leave();
    ir_.CreateBr(after);
    // Values computed in one branch are not available in the other, nor after both.
    statement_values_.clear();
  };
  branch(then, when_true);
  if (when_false) branch(otherwise, when_false);
  ir_.SetInsertPoint(after);
}

void FunctionEmitter::emit_if(const If& stmt) {
  statement_values_.clear();
  llvm::Value* condition = value(stmt.condition);
  const auto then_case = [&] { emit(*stmt.then_case()); };
  const auto else_case = [&] { emit(*stmt.else_case()); };
  if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(condition)) {
    if (constant->isOne()) {
      then_case();
    } else if (stmt.else_case() != nullptr) {
      else_case();
    }
    return;
  }
  emit_guarded(condition, then_case, stmt.else_case() != nullptr ? Emit(else_case) : Emit());
}

void FunctionEmitter::emit_allocate(const Allocate& stmt) {
  const Buffer& buffer = stmt.buffer;
  if (!buffers_.contains(buffer.get())) {
    const bool in_registers = buffer->scope == kScopeRegister;
    // Room for a whole vector behind the last element: masked accesses of registers touch it.
    const int64_t padding = in_registers ? state_.traits.vector_bits / buffer->dtype.bits : 0;
    auto* type = llvm::ArrayType::get(memory_type(ir_.getContext(), buffer->dtype),
                                      static_cast<uint64_t>(buffer->span() + padding));
    llvm::Value* memory = values_.at_entry([&] {
      auto* alloca = ir_.CreateAlloca(type, nullptr, (in_registers ? kRegisterPrefix : "") + buffer->name);
      alloca->setAlignment(llvm::Align(64));
      return alloca;
    });
    bind_buffer(buffer, memory);
  }
  emit(*stmt.body());
}

}  // namespace tunesmith::llvm_target
