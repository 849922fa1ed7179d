// Emits one LLVM function: expressions, memory accesses and statements of a lowered program.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Metadata.h>
#include <llvm/IR/Module.h>

#include "codegen_traits.h"
#include "scoped_values.h"
#include "tunesmith/intrinsics/tensor_intrinsic.h"
#include "tunesmith/ir/lowered_stmt.h"

namespace tunesmith::llvm_target {

/// The prefix of register buffers' allocas: none may remain after they have become values.
inline constexpr const char* kRegisterPrefix = "register.";

inline constexpr int64_t kCacheLineBytes = 64;

/// Functions that call tensor intrinsics, in order, with the extensions that these belong to.
using UnitCallers = std::vector<std::pair<llvm::Function*, std::set<std::string>>>;

/// State shared by the functions of a module.
struct ModuleState {
  llvm::Module& module;
  const CodegenTraits& traits;
  std::string symbol;
  UnitCallers& callers;
  int outlined = 0;
  /// Zeros, which are loaded instead of a masked-out address; created on demand.
  llvm::GlobalVariable* zeros = nullptr;
};

/// A buffer as the function sees it.
struct BufferSlot {
  llvm::Value* base = nullptr;  // available in the outermost scope
  uint32_t id = 0;
  bool in_registers = false;
  llvm::AAMDNodes aliasing;  // the memory that its accesses do not overlap
};

/// The lanes' i64 values: base + lanes[i].
struct LaneIndex {
  Linear base;
  llvm::SmallVector<int64_t, 16> lanes;
};

/// The lanes that an access may touch: those where both conditions hold; null means always.
struct Mask {
  llvm::Value* uniform = nullptr;  // i1
  llvm::Value* lanes = nullptr;    // <n x i1>
  bool never = false;
  bool always() const { return uniform == nullptr && lanes == nullptr && !never; }
};

class FunctionEmitter {
 public:
  /// `function` has no body yet. `parallel_for` and `pool` are
  /// null inside a parallel loop, where nested ones run serially.
  FunctionEmitter(ModuleState& state, llvm::Function* function, llvm::Value* parallel_for, llvm::Value* pool);

  /// Emits a value of the parameters in the outermost scope.
  llvm::Value* at_entry(const std::function<llvm::Value*(llvm::IRBuilder<>&)>& emit) {
    return values_.at_entry([&] { return emit(ir_); });
  }
  /// `base` is ready in the outermost scope; the memory of no two buffers overlaps.
  void bind_buffer(const Buffer& buffer, llvm::Value* base);
  void bind_var(const VarNode* var, const Linear& value) { vars_[var] = value; }
  /// A parameter of the function as a value of known range.
  Linear parameter(llvm::Value* value, Interval range) { return values_.scope_atom(value, range); }

  void emit(const Stmt& stmt);
  /// The body of an outlined parallel loop: iterations [begin, end) counted from the loop's min.
  void emit_chunk(const Loop& loop, const Linear& begin, const Linear& end);
  void finish();

  // Indices (emit_index.cpp).
  Linear linear(const Expr& expr);
  std::optional<LaneIndex> lane_index(const Expr& expr);
  llvm::Value* lanes_value(const LaneIndex& index);

  // Values (emit_expr.cpp).
  llvm::Value* value(const Expr& expr);

 private:
  using Emit = std::function<void()>;

  // emit_expr.cpp
  llvm::Value* emit_value(const Expr& expr);
  llvm::Value* constant_value(const Expr& expr);
  llvm::Value* select_value(const Expr& expr);
  llvm::Value* index_value(const Expr& expr);
  bool is_index_arithmetic(const Expr& expr);
  llvm::Value* binary_value(const Expr& expr);
  llvm::Value* float_binary(ExprKind kind, llvm::Value* a, llvm::Value* b);
  llvm::Value* fused_multiply_add(const Expr& expr);
  llvm::Value* int_binary(ExprKind kind, llvm::Value* a, llvm::Value* b, bool is_signed);
  llvm::Value* compare_index(const Expr& expr);
  llvm::Value* compare(ExprKind kind, llvm::Value* a, llvm::Value* b, DType type);
  llvm::Value* call_value(const Expr& expr);
  llvm::Value* cast_value(const Expr& expr);
  llvm::Value* bits_value(MathOp op, llvm::Value* a, llvm::Value* b, DType type);
  llvm::Value* splat(llvm::Value* scalar, int lanes);

  // emit_memory.cpp
  llvm::Value* load_value(const LoadNode& node);
  llvm::Value* load_lanes(const BufferSlot& slot, DType type, const LaneIndex& index, const Mask& mask);
  llvm::Value* load_contiguous(const BufferSlot& slot, DType type, const Linear& at, const Mask& mask);
  llvm::Value* load_window(const BufferSlot& slot, DType type, const LaneIndex& index, int64_t low,
                           int64_t window);
  llvm::Value* lane_pointers(const BufferSlot& slot, DType type, const Expr& index);
  void store(const Store& stmt);
  void store_lanes(const BufferSlot& slot, DType type, const Expr& index, llvm::Value* value,
                   llvm::Value* mask);
  Mask mask_of(const Expr& mask);
  llvm::Value* all_lanes(const Mask& mask, int lanes);
  llvm::Value* readable(const BufferSlot& slot, DType type, const Linear& at, llvm::Value* condition);
  const BufferSlot& slot_of(const Buffer& buffer) const;
  static llvm::Instruction* access_of(const BufferSlot& slot, llvm::Instruction* access) {
    access->setAAMetadata(slot.aliasing);
    return access;
  }
  llvm::Value* pointer(const BufferSlot& slot, DType type, const Linear& at);

  // emit_stmt.cpp
  void emit_loop(const Loop& loop);
  void emit_unrolled(const Loop& loop, int64_t min, int64_t extent);
  void emit_rolled(const Loop& loop, const Linear& begin, const Linear& end);
  void emit_if(const If& stmt);
  void emit_allocate(const Allocate& stmt);
  void emit_guarded(llvm::Value* condition, const Emit& when_true, const Emit& when_false = {});
  llvm::BasicBlock* new_block(const char* name);

  // emit_intrinsic.cpp
  void emit_intrinsic(const Loop& loop);
  llvm::Value* load_operand(const TensorOperand& operand, const TensorCall::Operand& given);
  void store_operand(const TensorOperand& operand, const TensorCall::Operand& given, llvm::Value* all);
  void mark_aliasing(llvm::CallInst& call, const TensorIntrinsic& intrinsic,
                     const TensorCall& tensor_call) const;

  // emit_unit_sums.cpp
  struct UnitSum {
    TensorIntrinsicPtr intrinsic;
    TensorCall::Operand given;
    int64_t at;  // its offset
  };
  bool has_large_output(const Loop& call) const;
  bool find_unit_sums(const Stmt& stmt, const Loop& around, std::vector<UnitSum>& sums);
  void pass_sums_through_memory(const Loop& loop);

  // emit_prefetch.cpp
  friend class MovingLoads;
  void emit_prefetches(const Loop& loop);
  void prefetch(const BufferSlot& slot, DType type, const Linear& at);

  // emit_prefetch_behind.cpp
  struct Run;
  std::optional<Run> find_run(const Linear& first, int64_t elements) const;
  void emit_prefetch_behind(const Loop& loop);

  // emit_nontemporal.cpp
  bool begins_nontemporal(const Loop& loop) const;
  void emit_nontemporal(const Loop& loop);
  bool goes_past_cache(const Buffer& buffer, DType type, const Linear& at) const;
  void store_past_cache(llvm::StoreInst& store);
  void finish_nontemporal();

  // emit_parallel.cpp
  void emit_parallel(const Loop& loop, const Linear& extent);

  ModuleState& state_;
  llvm::Function* function_;
  llvm::IRBuilder<> ir_;
  ScopedValues values_;
  llvm::Value* parallel_for_;
  llvm::Value* pool_;
  // For look-up by address only, never iterated.
  std::unordered_map<const BufferNode*, BufferSlot> buffers_;
  std::unordered_map<const VarNode*, Linear> vars_;
  /// Values of common subexpressions within one statement.
  llvm::DenseMap<const ExprNode*, llvm::Value*> statement_values_;
  /// The loops around the place of insertion, the innermost last.
  struct RolledLoop {
    Linear index;  // one atom
    std::optional<int64_t> begin, extent;
  };
  std::vector<RolledLoop> rolled_;
  uint32_t next_buffer_id_ = 0;
  /// Buffers whose stores under the current loop bypass the caches; looked up by address, never iterated.
  std::set<const BufferNode*> past_cache_;
  bool in_nontemporal_ = false;  // under a loop with the annotation, in either of its forms
  bool stored_past_cache_ = false;
  /// Alias scopes of the buffers in memory, in the order of binding.
  llvm::SmallVector<llvm::Metadata*, 8> buffer_scopes_;
  llvm::MDNode* scope_domain_;
};

}  // namespace tunesmith::llvm_target
