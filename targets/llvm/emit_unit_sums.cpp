// Sums of a matrix unit whose parts plain statements read after the loop that computes them.
//
// LLVM keeps a sum in the unit's registers over the loop only if all later uses take the whole value. A sum
// whose parts are used is therefore stored to memory once after the loop, instead of in each iteration.
#include <vector>

#include "float_convert.h"
#include "function_emitter.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith::llvm_target {

namespace {

/// A value of more vectors than this is a matrix unit's: others stay in the processor's own registers.
constexpr int64_t kVectorsOfUnit = 8;

bool is_call(const Loop& loop) { return loop.annotations.contains(kTensorIntrinsic); }

/// The call that the statement is a part of, or null.
const Loop* call_around(const Stmt& stmt) {
  for (const Stmt* at = &stmt; at != nullptr; at = at->parent) {
    const Loop* loop = at->as<Loop>();
    if (loop != nullptr && is_call(*loop)) return loop;
  }
  return nullptr;
}

/// Is the buffer the output of each call under `root` that uses it, and used by nothing else there?
bool only_calls_write(const Stmt& root, const Buffer& buffer) {
  bool only = true;
  walk_accesses(root, [&](const Stmt& stmt, const AccessSite& access) {
    if (access.buffer != buffer) return;
    const Loop* call = call_around(stmt);
    only = only && call != nullptr && tensor_call(*call).operands[0].buffer == buffer;
  });
  return only;
}

bool is_rolled(const Loop& loop) { return loop.loop_kind != LoopKind::Unrolled && loop.const_extent() != 1; }

/// Do plain statements under `allocate` read parts of its buffer,
/// all at constant offsets? With other offsets it stays in memory.
bool is_taken_apart(const Allocate& allocate) {
  bool read = false;
  bool constant = true;
  walk_accesses(allocate, [&](const Stmt& stmt, const AccessSite& access) {
    if (access.buffer != allocate.buffer || call_around(stmt) != nullptr) return;
    read = read || access.load != nullptr;
    for (const Stmt* above = stmt.parent; above != &allocate; above = above->parent) {
      const Loop* loop = above->as<Loop>();
      constant =
          constant && (loop == nullptr || !is_rolled(*loop) || !uses_var(access.indices[0], loop->var));
    }
  });
  return read && constant;
}

/// Is `loop` the outermost one that only accumulates into the buffer, whose parts are read after it?
bool accumulates_parts(const Loop& loop, const Buffer& buffer) {
  if (!only_calls_write(loop, buffer)) return false;
  for (const Stmt* above = loop.parent; above != nullptr; above = above->parent) {
    const Loop* outer = above->as<Loop>();
    if (outer != nullptr && is_rolled(*outer) && only_calls_write(*outer, buffer)) return false;
    const Allocate* allocate = above->as<Allocate>();
    if (allocate != nullptr && allocate->buffer == buffer) return is_taken_apart(*allocate);
  }
  return false;  // not the function's own memory
}

}  // namespace

/// Is the call's result too large for the processor's own registers?
bool FunctionEmitter::has_large_output(const Loop& call) const {
  const TensorIntrinsicPtr intrinsic = tensor_call(call).intrinsic;
  if (intrinsic->operands[0].by_address) return false;
  const Buffer& output = intrinsic->operands[0].buffer;
  return output->elements() * output->dtype.bits > kVectorsOfUnit * state_.traits.vector_bits;
}

/// Finds the sums under `stmt` whose parts are read after `around`; false if one moves with a loop.
bool FunctionEmitter::find_unit_sums(const Stmt& stmt, const Loop& around, std::vector<UnitSum>& sums) {
  const Loop* loop = stmt.as<Loop>();
  if (loop == nullptr) {
    bool all = true;
    visit_children(stmt, [&](const Stmt& child) { all = all && find_unit_sums(child, around, sums); });
    return all;
  }
  if (!is_call(*loop)) {
    const Linear min = linear(loop->min);
    const Linear extent = linear(loop->extent);
    const bool unrolled = !is_rolled(*loop) && min.is_constant() && extent.is_constant();
    for (int64_t i = 0; i < (unrolled ? extent.constant : 1); ++i) {
      vars_[loop->var.get()] = unrolled ? add_scaled(min, Linear(i), 1) : Linear(0);
      if (!find_unit_sums(*loop->body(), around, sums)) return false;
    }
    return true;
  }
  if (!has_large_output(*loop)) return true;
  const TensorCall call = tensor_call(*loop);
  const Buffer& buffer = call.operands[0].buffer;
  if (!accumulates_parts(around, buffer)) return true;
  for (const Stmt* above = loop->parent; above != around.parent; above = above->parent) {
    const Loop* outer = above->as<Loop>();
    if (outer != nullptr && is_rolled(*outer) && uses_var(call.operands[0].offset, outer->var)) return false;
  }
  const Linear at = linear(call.operands[0].offset);
  if (!at.is_constant()) return false;
  for (const UnitSum& known : sums) {
    if (known.given.buffer == buffer && known.at == at.constant) return true;
  }
  sums.push_back({call.intrinsic, call.operands[0], at.constant});
  return true;
}

void FunctionEmitter::pass_sums_through_memory(const Loop& loop) {
  const auto may_be_one = [&](const Loop& inner) { return is_call(inner) && has_large_output(inner); };
  if (collect<Loop>(loop, may_be_one).empty()) return;
  const auto outer = vars_;
  std::vector<UnitSum> sums;
  const bool all = find_unit_sums(*loop.body(), loop, sums);
  vars_ = outer;
  if (!all) return;
  for (UnitSum& sum : sums) {
    const TensorOperand& operand = sum.intrinsic->operands[0];
    sum.given.offset = int_imm(sum.at);
    llvm::Value* value = load_operand(operand, sum.given);
    llvm::Value* memory = values_.at_entry([&] {
      auto* alloca = ir_.CreateAlloca(value->getType(), nullptr, "sum");
      alloca->setAlignment(llvm::Align(64));
      return alloca;
    });
    ir_.CreateAlignedStore(value, memory, llvm::Align(64));
    // Volatile: the loaded value must not be replaced by the stored one.
    store_operand(operand, sum.given,
                  ir_.CreateAlignedLoad(value->getType(), memory, llvm::Align(64), /*isVolatile=*/true));
  }
}

}  // namespace tunesmith::llvm_target
