#include "math_functions.h"

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>

#include "emit_error.h"

namespace tunesmith::llvm_target {

llvm::Value* MathFunctions::emit(MathOp op, llvm::ArrayRef<llvm::Value*> operands) {
  llvm::Value* x = operands[0];
  llvm::Value* one = llvm::ConstantFP::get(x->getType(), 1.0);
  switch (op) {
    case MathOp::Sqrt:
      return ir_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x);
    case MathOp::Rsqrt:
      return ir_.CreateFDiv(one, ir_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x));
    case MathOp::Abs:
      return ir_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
    case MathOp::Floor:
      return ir_.CreateUnaryIntrinsic(llvm::Intrinsic::floor, x);
    case MathOp::Ceil:
      return ir_.CreateUnaryIntrinsic(llvm::Intrinsic::ceil, x);
    case MathOp::Sigmoid:
      return ir_.CreateFDiv(one, ir_.CreateFAdd(one, emit(MathOp::Exp, ir_.CreateFNeg(x))));
    default:
      return from_library(op, operands);
  }
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
  llvm::Value* result = llvm::PoisonValue::get(type);
  for (unsigned lane = 0; lane < vector->getNumElements(); ++lane) {
    llvm::SmallVector<llvm::Value*, 2> arguments;
    for (llvm::Value* operand : operands) arguments.push_back(ir_.CreateExtractElement(operand, lane));
    result = ir_.CreateInsertElement(result, ir_.CreateCall(callee, arguments), lane);
  }
  return result;
}

}  // namespace tunesmith::llvm_target
