// Elementwise mathematics as LLVM IR, on scalars and vectors of f32 and f64.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "codegen_traits.h"
#include "tunesmith/ir/expr.h"

namespace tunesmith::llvm_target {

class MathFunctions {
 public:
  MathFunctions(llvm::IRBuilder<>& ir, const CodegenTraits& traits) : ir_(ir), traits_(traits) {}

  llvm::Value* emit(MathOp op, llvm::ArrayRef<llvm::Value*> operands);

 private:
  llvm::Value* from_library(MathOp op, llvm::ArrayRef<llvm::Value*> operands);

  llvm::IRBuilder<>& ir_;
  const CodegenTraits& traits_;
};

}  // namespace tunesmith::llvm_target
