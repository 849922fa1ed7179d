// Integer values and pointers of one function, each emitted once in the outermost scope (loop body or branch)
// that has its operands.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/IR/IRBuilder.h>

#include "linear.h"

namespace tunesmith::llvm_target {

class ScopedValues {
 public:
  explicit ScopedValues(llvm::IRBuilder<>& ir) : ir_(ir) {}

  /// What is emitted for the new scope goes behind what `head` holds now; `head` dominates the whole scope.
  void enter(llvm::BasicBlock* head);
  void leave();

  /// Pointers move along with the loop variable `index` (an atom whose value is a phi of the current scope's
  /// head) from now on, and multiples of it count along. Each holds a register for the whole loop: for
  /// innermost loops.
  void reduce_strength(const Linear& index);
  /// At the end of such a loop, where an iteration jumps back: moves and counts on.
  void count_on();

  /// A value that is ready at the head of the current scope: a parameter, a loop's variable.
  Linear scope_atom(llvm::Value* value, Interval range);
  /// A value that was computed at the current place of insertion.
  Linear local_atom(llvm::Value* value, Interval range = {});

  Interval range(const Linear& linear) const;
  /// As an i64.
  llvm::Value* value(const Linear& linear);
  /// base + linear * element_bytes; `base_id` stands for `base`, which is ready in the outermost scope.
  llvm::Value* pointer(llvm::Value* base, uint32_t base_id, const Linear& linear, int64_t element_bytes);

  Linear floor_div(const Linear& a, int64_t divisor);
  Linear floor_mod(const Linear& a, int64_t divisor);
  Linear minimum(const Linear& a, const Linear& b);
  Linear maximum(const Linear& a, const Linear& b);

  /// Runs `emit` at the head of the outermost scope. For allocas.
  template <typename Emit>
  llvm::Value* at_entry(Emit emit) {
    return at_depth(0, emit);
  }

 private:
  static constexpr int kHere = -1;
  using Key = llvm::SmallVector<int64_t, 12>;
  struct Atom {
    llvm::Value* value;
    int depth;  // of the scope in which it is ready, or kHere
    Interval range;
  };
  /// A pointer that is `step` bytes further in each iteration: `at` adds the index's multiple to a base.
  struct MovingPointer {
    llvm::GetElementPtrInst* at;
    int64_t step;
  };
  struct Scope {
    llvm::BasicBlock* head;
    llvm::Instruction* last;  // of the head's own values; null when it has none
    std::map<Key, uint32_t> atoms;
    std::map<Key, llvm::Value*> values;
    std::optional<uint32_t> index;  // of the loop, where strength is reduced
    std::map<int64_t, llvm::PHINode*> multiples;
    std::vector<MovingPointer> pointers;
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
  /// Terms by rising depth (kHere last), equal depths by atom.
  llvm::SmallVector<Linear::Term, 4> by_depth(const Linear& linear) const;
  llvm::Value* product(const Linear::Term& term, int64_t factor);
  /// A phi of the loop's head with its value before the loop, which `first` makes of the index's.
  llvm::PHINode* phi_of(const Scope& scope, llvm::Type* type,
                        llvm::function_ref<llvm::Value*(llvm::Value*)> first);
  llvm::Value* multiple_of_index(Scope& scope, int64_t coefficient);
  void move_along(const Scope& scope, const MovingPointer& pointer);

  llvm::IRBuilder<>& ir_;
  std::vector<Scope> scopes_;
  std::vector<Atom> atoms_;
};

}  // namespace tunesmith::llvm_target
