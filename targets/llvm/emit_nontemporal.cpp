// Stores that bypass the caches, under loops that request them. Their addresses must be multiples of a
// vector, which callers need not guarantee: such a loop is emitted twice, once with ordinary stores.
#include <algorithm>
#include <vector>

#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>

#include "function_emitter.h"
#include "tunesmith/ir/annotation_keys.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith::llvm_target {

namespace {

/// Buffers that the statement stores and nowhere loads, in text order.
std::vector<Buffer> only_stored(const Stmt& stmt) {
  std::vector<Buffer> stored;
  std::vector<Buffer> loaded;
  walk(stmt, [&](const Stmt& part) {
    if (const auto* store = part.as<Store>();
        store != nullptr && std::ranges::find(stored, store->buffer) == stored.end())
      stored.push_back(store->buffer);
    visit_exprs(part, [&](const Expr& expr) {
      walk_expr(expr, [&](const Expr& inner) {
        if (const auto* load = inner.as<LoadNode>()) loaded.push_back(load->buffer);
      });
    });
  });
  std::erase_if(stored,
                [&](const Buffer& buffer) { return std::ranges::find(loaded, buffer) != loaded.end(); });
  return stored;
}

}  // namespace

bool FunctionEmitter::begins_nontemporal(const Loop& loop) const {
  const auto annotation = loop.annotations.find(kNontemporal);
  return !in_nontemporal_ && annotation != loop.annotations.end() &&
         annotation->second == AnnotationValue(int64_t{1});
}

void FunctionEmitter::emit_nontemporal(const Loop& loop) {
  in_nontemporal_ = true;
  const auto vector_bytes = static_cast<uint64_t>(state_.traits.vector_bits / 8);
  llvm::Value* low_bits = nullptr;
  for (const Buffer& buffer : only_stored(*loop.body())) {
    const auto slot = buffers_.find(buffer.get());
    // A buffer allocated under the loop is not bound yet, and stays in cache.
    if (slot == buffers_.end() || slot->second.in_registers) continue;
    past_cache_.insert(buffer.get());
    llvm::Value* address = ir_.CreatePtrToInt(slot->second.base, ir_.getInt64Ty());
    low_bits = low_bits == nullptr ? address : ir_.CreateOr(low_bits, address);
  }
  if (low_bits == nullptr) {
    emit_loop(loop);
  } else {
    llvm::Value* aligned =
        ir_.CreateICmpEQ(ir_.CreateAnd(low_bits, ir_.getInt64(vector_bytes - 1)), ir_.getInt64(0));
    emit_guarded(
        aligned,
        [&] {
          emit_loop(loop);
          finish_nontemporal();
          past_cache_.clear();
        },
        [&] { emit_loop(loop); });
  }
  in_nontemporal_ = false;
}

/// Whole vectors at multiples of a vector, if the buffer begins at one.
bool FunctionEmitter::goes_past_cache(const Buffer& buffer, DType type, const Linear& at) const {
  const int64_t vector_bytes = state_.traits.vector_bits / 8;
  const auto is_whole = [&](int64_t elements) {
    return elements * type.scalar().bytes() % vector_bytes == 0;
  };
  return past_cache_.contains(buffer.get()) && is_whole(type.lanes) && is_whole(at.constant) &&
         std::ranges::all_of(at.terms, [&](const Linear::Term& term) { return is_whole(term.coefficient); });
}

void FunctionEmitter::store_past_cache(llvm::StoreInst& store) {
  llvm::LLVMContext& context = ir_.getContext();
  store.setMetadata(llvm::LLVMContext::MD_nontemporal,
                    llvm::MDNode::get(context, llvm::ConstantAsMetadata::get(ir_.getInt32(1))));
  store.setAlignment(llvm::Align(static_cast<uint64_t>(state_.traits.vector_bits / 8)));
  stored_past_cache_ = true;
}

/// Nontemporal stores are not ordered with others: a fence completes them before this thread reports its end.
void FunctionEmitter::finish_nontemporal() {
  if (!stored_past_cache_) return;
  ir_.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent);
  stored_past_cache_ = false;
}

}  // namespace tunesmith::llvm_target
