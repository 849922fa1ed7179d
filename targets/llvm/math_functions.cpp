#include "math_functions.h"

#include <ranges>
#include <utility>
#include <vector>

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>

namespace tunesmith::llvm_target {

llvm::Value* MathFunctions::emit(MathOp op, llvm::ArrayRef<llvm::Value*> operands) {
  // Reordering or contraction would cancel the error terms.
  const llvm::IRBuilderBase::FastMathFlagGuard guard(ir_);
  ir_.clearFastMathFlags();
  Value x = operands[0];
  switch (op) {
    case MathOp::Sqrt:
      return ir_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x);
    case MathOp::Rsqrt:
      return ir_.CreateFDiv(number(x, 1.0), ir_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x));
    case MathOp::Abs:
      return absolute(x);
    case MathOp::Floor:
      return ir_.CreateUnaryIntrinsic(llvm::Intrinsic::floor, x);
    case MathOp::Ceil:
      return ir_.CreateUnaryIntrinsic(llvm::Intrinsic::ceil, x);
    case MathOp::RoundEven:
      return round_even(x);
    case MathOp::RoundTf32:
      return round_tf32(x);
    case MathOp::Sigmoid:
      return sigmoid(x);
    default:
      break;
  }
  if (!x->getType()->getScalarType()->isFloatTy()) return from_library(op, operands);
  switch (op) {
    case MathOp::Exp:
      return exp_f32(x);
    case MathOp::Log:
      return log_f32(x);
    case MathOp::Tanh:
      return tanh_f32(x);
    case MathOp::Erf:
      return erf_f32(x);
    case MathOp::Pow:
      return pow_f32(x, operands[1]);
    case MathOp::Sin:
    case MathOp::Cos:
      return sin_or_cos_f32(op, x);
    default:
      return from_library(op, operands);
  }
}

llvm::Value* MathFunctions::round_even(Value x) {
  // Processors that fuse have the instruction; others would call a function of the library.
  if (traits_.fma) return ir_.CreateUnaryIntrinsic(llvm::Intrinsic::roundeven, x);
  // The sum with a number whose unit is 1 is rounded to an integer; larger numbers are integers.
  Value large = number(x, x->getType()->getScalarType()->isFloatTy() ? 0x1p23 : 0x1p52);
  Value size = absolute(x);
  Value rounded = ir_.CreateFSub(ir_.CreateFAdd(size, large), large);
  return ir_.CreateSelect(ir_.CreateFCmpOLT(size, large), with_sign_of(rounded, x), x);
}

/// Adds half of the last kept bit, which rounds ties away from zero. Types under 32 bits are unchanged.
llvm::Value* MathFunctions::round_tf32(Value x) {
  const unsigned bits = x->getType()->getScalarSizeInBits();
  if (bits < 32) return x;
  const uint64_t half = uint64_t{1} << (bits == 32 ? 12 : 41);
  llvm::Type* type = integers_like(x);
  Value sum = ir_.CreateAdd(ir_.CreateBitCast(x, type), llvm::ConstantInt::get(type, half));
  Value rounded = ir_.CreateAnd(sum, llvm::ConstantInt::get(type, ~(2 * half - 1)));
  return ir_.CreateSelect(ir_.CreateFCmpORD(x, x), ir_.CreateBitCast(rounded, x->getType()), x);
}

llvm::Value* MathFunctions::from_library(MathOp op, llvm::ArrayRef<llvm::Value*> operands) {
  llvm::Type* type = operands[0]->getType();
  llvm::Type* scalar = type->getScalarType();
  const std::string name = std::string(math_op_name(op)) + (scalar->isFloatTy() ? "f" : "");
  llvm::Module* module = ir_.GetInsertBlock()->getModule();
  const llvm::SmallVector<llvm::Type*, 2> parameters(operands.size(), scalar);
  llvm::FunctionCallee callee =
      module->getOrInsertFunction(name, llvm::FunctionType::get(scalar, parameters, /*isVarArg=*/false));
  auto* function = llvm::cast<llvm::Function>(callee.getCallee());
  function->setDoesNotThrow();
  function->setDoesNotAccessMemory();
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  if (vector == nullptr) return ir_.CreateCall(callee, operands);
  Value result = llvm::PoisonValue::get(type);
  for (unsigned lane = 0; lane < vector->getNumElements(); ++lane) {
    llvm::SmallVector<Value, 2> arguments;
    for (Value operand : operands) arguments.push_back(ir_.CreateExtractElement(operand, lane));
    result = ir_.CreateInsertElement(result, ir_.CreateCall(callee, arguments), lane);
  }
  return result;
}

llvm::Value* MathFunctions::multiply_add(Value a, Value b, Value c) {
  if (traits_.fma) return ir_.CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, b, c});
  return ir_.CreateFAdd(ir_.CreateFMul(a, b), c);
}

llvm::Value* MathFunctions::polynomial_by_pairs(Value x, std::span<const double> coefficients) {
  std::vector<Value> terms;  // lowest power first
  for (const double coefficient : std::views::reverse(coefficients)) terms.push_back(number(x, coefficient));
  for (Value power = x; terms.size() > 1; power = ir_.CreateFMul(power, power)) {
    std::vector<Value> pairs;
    for (size_t i = 0; i < terms.size(); i += 2)
      pairs.push_back(i + 1 < terms.size() ? multiply_add(terms[i + 1], power, terms[i]) : terms[i]);
    terms = std::move(pairs);
  }
  return terms.front();
}

llvm::Value* MathFunctions::polynomial(Value x, std::span<const double> coefficients) {
  Value sum = number(x, coefficients.front());
  for (const double coefficient : coefficients.subspan(1)) sum = multiply_add(sum, x, number(x, coefficient));
  return sum;
}

llvm::Value* MathFunctions::absolute(Value x) { return ir_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x); }

llvm::Value* MathFunctions::with_sign_of(Value magnitude, Value sign) {
  return ir_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, magnitude, sign);
}

llvm::Type* MathFunctions::integers_like(const llvm::Value* x) {
  llvm::Type* type = x->getType();
  llvm::Type* scalar = ir_.getIntNTy(type->getScalarSizeInBits());
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  return vector == nullptr ? scalar : llvm::FixedVectorType::get(scalar, vector->getNumElements());
}

}  // namespace tunesmith::llvm_target
