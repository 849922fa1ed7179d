// Integer values and pointers of one function, each emitted once in the outermost scope (loop body or branch)
// that has its operands.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include <llvm/IR/IRBuilder.h>

#include "linear.h"

namespace tunesmith::llvm_target {

class ScopedValues {
 public:
  explicit ScopedValues(llvm::IRBuilder<>& ir) : ir_(ir) {}

  /// Code for the new scope is placed after the current end of `head`, which dominates the whole scope.
  void enter(llvm::BasicBlock* head);
  /// The same for a loop's body, whose variable is `index`, a phi of `head`. Returns the variable.
  Linear enter_loop(llvm::BasicBlock* head, llvm::PHINode* index, Interval range);
  /// Ends the scope at the current insertion point: for a loop, at the end of an iteration.
  void leave();

  /// A value that is ready at the head of the current scope: a parameter, a loop's variable.
  Linear scope_atom(llvm::Value* value, Interval range);
  /// A value that was computed at the current place of insertion.
  Linear local_atom(llvm::Value* value, Interval range = {});

  Interval range(const Linear& linear) const;
  /// As an i64.
  llvm::Value* value(const Linear& linear);
  /// base + linear * element_bytes; `base_id` identifies `base`, which is available in the outermost scope.
  llvm::Value* pointer(llvm::Value* base, uint32_t base_id, const Linear& linear, int64_t element_bytes);

  Linear multiply(const Linear& a, const Linear& b);
  Linear floor_div(const Linear& a, int64_t divisor);
  Linear floor_mod(const Linear& a, int64_t divisor);
  Linear minimum(const Linear& a, const Linear& b);
  Linear maximum(const Linear& a, const Linear& b);

  /// Runs `emit` at the head of the outermost scope, for allocas and values loaded from parameters.
  template <typename Emit>
  llvm::Value* at_entry(Emit emit) {
    return at_depth(0, emit);
  }

 private:
  static constexpr int kHere = -1;
  using Key = llvm::SmallVector<int64_t, 12>;
  struct Atom {
    llvm::Value* value;
    int depth;  // of the scope in which it is available, or kHere
    Interval range;
  };
  /// A base plus the loop's index * `step` bytes.
  struct SteppedPointer {
    llvm::GetElementPtrInst* value;
    int64_t step;
  };
  struct Loop {
    llvm::PHINode* index;
    uint32_t atom;  // of the index
    bool innermost = true;
    std::vector<SteppedPointer> pointers;
    std::map<int64_t, llvm::Instruction*> multiples;  // of the index, by coefficient
  };
  struct Scope {
    llvm::BasicBlock* head;
    llvm::Instruction* last;  // of the head's own values; null if there are none
    std::map<Key, uint32_t> atoms;
    std::map<Key, llvm::Value*> values;
    std::optional<Loop> loop;
  };

  template <typename Emit>
  llvm::Value* at_depth(int depth, Emit emit) {
    if (depth == kHere) return emit();
    Scope& scope = scopes_[static_cast<size_t>(depth)];
    const llvm::IRBuilderBase::InsertPointGuard guard(ir_);
    ir_.SetInsertPoint(scope.head,
                       scope.last == nullptr ? scope.head->begin() : std::next(scope.last->getIterator()));
    llvm::Value* result = emit();
    if (ir_.GetInsertPoint() != scope.head->begin()) scope.last = &*std::prev(ir_.GetInsertPoint());
    return result;
  }
  /// The value under `key` in the scope of `depth`, emitted when it is not there.
  template <typename Emit>
  llvm::Value* cached(int depth, const Key& key, Emit emit) {
    if (depth == kHere) return emit();
    auto& values = scopes_[static_cast<size_t>(depth)].values;
    const auto found = values.find(key);
    if (found != values.end()) return found->second;
    llvm::Value* result = at_depth(depth, emit);
    scopes_[static_cast<size_t>(depth)].values.emplace(key, result);
    return result;
  }

  Linear new_atom(llvm::Value* value, int depth, Interval range);
  /// The atom of a non-linear operation; `emit` makes its value.
  template <typename Emit>
  Linear nonlinear(Key key, std::initializer_list<const Linear*> operands, Interval range, Emit emit);
  /// Terms by increasing depth (kHere last), equal depths by atom.
  llvm::SmallVector<Linear::Term, 4> by_depth(const Linear& linear) const;
  llvm::Value* product(const Linear::Term& term, int64_t factor);
  /// The loop whose variable the atom is, or null.
  Loop* loop_of(uint32_t atom);
  void reduce_strength(const Loop& loop);

  llvm::IRBuilder<>& ir_;
  std::vector<Scope> scopes_;
  std::vector<Atom> atoms_;
};

}  // namespace tunesmith::llvm_target
