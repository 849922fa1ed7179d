// LLVM types of element types, and conversion between element types with defined results.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "codegen_traits.h"
#include "tunesmith/ir/dtype.h"

namespace tunesmith::llvm_target {

/// The type in memory: a bool takes a byte.
llvm::Type* memory_type(llvm::LLVMContext& context, DType type);
/// The type in computations: a bool is an i1.
llvm::Type* value_type(llvm::LLVMContext& context, DType type);

/// `type` when there is arithmetic on it, else f32.
DType arithmetic_type(DType type, const CodegenTraits& traits);

/// Rounds to nearest even; a float becomes an integer by truncation, saturating, with 0 for NaN.
llvm::Value* convert(llvm::IRBuilder<>& ir, llvm::Value* value, DType from, DType to,
                     const CodegenTraits& traits);
/// Converts an f32 to an integer of at most 16 bits, rounding to nearest even instead of by truncation.
llvm::Value* convert_rounded(llvm::IRBuilder<>& ir, llvm::Value* value, DType to);

}  // namespace tunesmith::llvm_target
