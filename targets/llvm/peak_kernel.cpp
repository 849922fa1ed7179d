#include "peak_kernel.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>

#include "codegen_traits.h"
#include "float_convert.h"

namespace tunesmith::llvm_target {

namespace {

using Kind = PeakOperation::Kind;

/// Operands that keep every sum finite and normal for any number of multiply-adds: sum * 0.5 + 1, or dot
/// products of ones, which wrap around in integers. Float sums of dot products stop growing at 2^25.
llvm::Constant* operand(llvm::LLVMContext& context, const PeakOperation& operation, double value) {
  if (operation.kind == Kind::DotBf16) {
    auto* type =
        llvm::FixedVectorType::get(llvm::Type::getBFloatTy(context), 2U * operation.accumulator.lanes);
    return llvm::ConstantFP::get(type, 1.0);
  }
  llvm::Type* type = value_type(context, operation.accumulator);
  if (!operation.accumulator.is_float()) return llvm::ConstantInt::get(type, 0x01010101);
  return llvm::ConstantFP::get(type, value);
}

/// Pairs of 16-bit products, added: the fastest byte multiplication without a byte dot product.
llvm::Value* emit_pair_products(llvm::IRBuilder<>& ir, const PeakOperation& operation, llvm::Value* sum,
                                llvm::Value* factor) {
  const int lanes = operation.accumulator.lanes;
  auto* halves = llvm::FixedVectorType::get(ir.getInt16Ty(), 2U * static_cast<unsigned>(lanes));
  const auto id = lanes == 16  ? llvm::Intrinsic::x86_avx512_pmaddw_d_512
                  : lanes == 8 ? llvm::Intrinsic::x86_avx2_pmadd_wd
                               : llvm::Intrinsic::x86_sse2_pmadd_wd;
  // Derived from the sum itself, otherwise the product would be hoisted out of the loop.
  return ir.CreateIntrinsic(id, {}, {ir.CreateBitCast(sum, halves), ir.CreateBitCast(factor, halves)});
}

llvm::Value* emit_operation(llvm::IRBuilder<>& ir, const PeakOperation& operation, llvm::Value* a,
                            llvm::Value* b, llvm::Value* sum) {
  const bool full = operation.accumulator.lanes == 16;
  switch (operation.kind) {
    case Kind::FusedMultiplyAdd:
      return ir.CreateIntrinsic(llvm::Intrinsic::fma, {sum->getType()}, {sum, a, b});
    case Kind::DotBf16:
      return ir.CreateIntrinsic(
          full ? llvm::Intrinsic::x86_avx512bf16_dpbf16ps_512 : llvm::Intrinsic::x86_avx512bf16_dpbf16ps_256,
          {}, {sum, a, b});
    case Kind::DotInt8:
      return ir.CreateIntrinsic(
          full ? llvm::Intrinsic::x86_avx512_vpdpbusd_512 : llvm::Intrinsic::x86_avx512_vpdpbusd_256, {},
          {sum, a, b});
    case Kind::DotInt16:
      return ir.CreateAdd(emit_pair_products(ir, operation, sum, a), b);
    case Kind::MultiplyThenAdd:
      break;
  }
  if (operation.accumulator.is_float()) return ir.CreateFAdd(ir.CreateFMul(a, sum), b);
  return ir.CreateAdd(ir.CreateMul(a, sum), b);
}

/// The work of one thread: `accumulators` sums as values, so that nothing but the operations is in the loop.
void emit_rounds(llvm::IRBuilder<>& ir, llvm::Function* function, const PeakOperation& operation,
                 int accumulators, int64_t iterations, llvm::Value* result) {
  llvm::LLVMContext& context = function->getContext();
  llvm::Type* type = value_type(context, operation.accumulator);
  llvm::Constant* a = operand(context, operation, 0.5);
  llvm::Constant* b = operand(context, operation, 1.0);
  llvm::BasicBlock* before = ir.GetInsertBlock();
  llvm::BasicBlock* loop = llvm::BasicBlock::Create(context, "loop", function);
  llvm::BasicBlock* after = llvm::BasicBlock::Create(context, "after", function);
  ir.CreateBr(loop);
  ir.SetInsertPoint(loop);
  llvm::PHINode* index = ir.CreatePHI(ir.getInt64Ty(), 2);
  index->addIncoming(ir.getInt64(0), before);
  std::vector<llvm::PHINode*> sums;
  for (int i = 0; i < accumulators; ++i) {
    sums.push_back(ir.CreatePHI(type, 2));
    // Each starts from a different value; otherwise they would be merged into one.
    sums.back()->addIncoming(operation.accumulator.is_float()
                                 ? llvm::ConstantFP::get(type, static_cast<double>(i))
                                 : llvm::ConstantInt::get(type, static_cast<uint64_t>(i)),
                             before);
  }
  std::vector<llvm::Value*> next;
  for (llvm::PHINode* sum : sums) next.push_back(emit_operation(ir, operation, a, b, sum));
  for (size_t i = 0; i < sums.size(); ++i) sums[i]->addIncoming(next[i], loop);
  llvm::Value* advanced = ir.CreateNUWAdd(index, ir.getInt64(1));
  index->addIncoming(advanced, loop);
  ir.CreateCondBr(ir.CreateICmpULT(advanced, ir.getInt64(static_cast<uint64_t>(iterations))), loop, after);
  ir.SetInsertPoint(after);
  llvm::Value* total = next[0];
  const bool is_float = operation.accumulator.is_float();
  for (size_t i = 1; i < next.size(); ++i)
    total = is_float ? ir.CreateFAdd(total, next[i]) : ir.CreateAdd(total, next[i]);
  ir.CreateAlignedStore(total, result, llvm::Align(64));
}

}  // namespace

PeakOperation peak_operation(DType type, const Machine& machine) {
  const auto bits = machine.vector_bits;
  const auto lanes_of = [&](DType element) { return static_cast<int>(bits / element.bits); };
  const bool wide = bits == 512 || bits == 256;
  if (type == kBF16 && wide && machine.has("avx512bf16") && (bits == 512 || machine.has("avx512vl"))) {
    return {Kind::DotBf16, kF32.with_lanes(lanes_of(kF32)), 4.0 * lanes_of(kF32)};
  }
  const bool dot_int8 = bits == 512 ? machine.has("avx512vnni")
                                    : bits == 256 && (machine.has("avxvnni") ||
                                                      (machine.has("avx512vnni") && machine.has("avx512vl")));
  if ((type == kI8 || type == kU8) && dot_int8) {
    return {Kind::DotInt8, kI32.with_lanes(lanes_of(kI32)), 8.0 * lanes_of(kI32)};
  }
  const bool pairs = bits == 512   ? machine.has("avx512bw")
                     : bits == 256 ? machine.has("avx2")
                                   : bits == 128 && machine.has("sse2");
  if ((type == kI8 || type == kU8) && pairs) {
    return {Kind::DotInt16, kI32.with_lanes(lanes_of(kI32)), 4.0 * lanes_of(kI32)};
  }
  // Types without arithmetic are computed in the next wider type.
  if (type == kBF16 || (type == kF16 && !machine.has("avx512fp16"))) type = kF32;
  if (type == kI8 || type == kU8 || type.is_bool()) type = kI32;
  const DType accumulator = type.with_lanes(lanes_of(type));
  const bool fused = type.is_float() && machine.has_fma();
  return {fused ? Kind::FusedMultiplyAdd : Kind::MultiplyThenAdd, accumulator, 2.0 * accumulator.lanes};
}

std::unique_ptr<llvm::Module> emit_peak_kernel(llvm::LLVMContext& context, const std::string& symbol,
                                               const PeakOperation& operation, int accumulators,
                                               int64_t iterations, int threads) {
  auto module = std::make_unique<llvm::Module>(symbol, context);
  llvm::IRBuilder<> ir(context);
  llvm::Type* pointer = ir.getPtrTy();
  llvm::Type* i64 = ir.getInt64Ty();
  llvm::Type* none = ir.getVoidTy();
  auto* body_type = llvm::FunctionType::get(none, {pointer, i64, i64}, false);
  auto* body =
      llvm::Function::Create(body_type, llvm::GlobalValue::InternalLinkage, symbol + ".body", *module);
  ir.SetInsertPoint(llvm::BasicBlock::Create(context, "entry", body));
  llvm::Value* result =
      ir.CreateGEP(ir.getInt8Ty(), body->getArg(0), ir.CreateMul(body->getArg(1), ir.getInt64(64)));
  // A chunk is one thread's: there are as many iterations as threads.
  emit_rounds(ir, body, operation, accumulators, iterations, result);
  ir.CreateRetVoid();

  auto* kernel =
      llvm::Function::Create(llvm::FunctionType::get(none, {pointer, pointer, pointer, pointer}, false),
                             llvm::GlobalValue::ExternalLinkage, symbol, *module);
  ir.SetInsertPoint(llvm::BasicBlock::Create(context, "entry", kernel));
  auto* parallel_for = llvm::FunctionType::get(none, {pointer, i64, pointer, pointer}, false);
  ir.CreateCall(parallel_for, kernel->getArg(2),
                {kernel->getArg(3), ir.getInt64(static_cast<uint64_t>(threads)), body, kernel->getArg(1)});
  ir.CreateRetVoid();
  return module;
}

}  // namespace tunesmith::llvm_target
