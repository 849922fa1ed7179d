// Translates a lowered program to an LLVM module with one kernel and its preparation (target/kernel_abi.h).
#pragma once

#include <memory>
#include <string>

#include <llvm/IR/Module.h>

#include "codegen_traits.h"
#include "compiler.h"
#include "tunesmith/lower/lower.h"

namespace tunesmith::llvm_target {

/// The entry point of the preparation for the kernel with this symbol.
inline std::string prepare_symbol(const std::string& symbol) { return symbol + "_prepare"; }

/// Throws EmitError if the program does not have the form that lower.h guarantees.
std::unique_ptr<llvm::Module> emit_module(const LoweredProgram& lowered, const std::string& symbol,
                                          const CodegenTraits& traits, llvm::LLVMContext& context);

/// The same, for a compiler. Its arguments outlive it.
ModuleSource source_of(const LoweredProgram& lowered, const std::string& symbol);

/// Attributes every function of a kernel needs for the code generator to use vectors of full width.
void set_function_attributes(llvm::Module& module, const CodegenTraits& traits);

}  // namespace tunesmith::llvm_target
