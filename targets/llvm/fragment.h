// Functions of LLVM IR whose bodies an extension's file has as text.
#pragma once

#include <functional>
#include <string>

#include <llvm/IR/Module.h>

namespace tunesmith::llvm_target {

struct Fragment {
  std::string symbol;
  std::string result;      // its type
  std::string parameters;  // "ptr noalias %A, i64 %A_stride"
  std::string attributes;  // of the function
  /// The body. Lines that begin with "declare ", "attributes " or "@" stand before the function.
  std::string text;
  /// What messages begin with of line n of `text`, from 1.
  std::function<std::string(int)> place;
};

/// The function of this symbol in `module`, made of the fragment where it is not there yet. Global variables
/// of one name are one where they are linkonce_odr. Throws EmitError.
llvm::Function* fragment_function(llvm::Module& module, const Fragment& fragment);

/// Is all memory that the function touches its own, or that of its parameters?
bool touches_parameters_only(const llvm::Function& function);

}  // namespace tunesmith::llvm_target
