// Functions with bodies in LLVM IR from an extension's file.
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
  /// The body. Lines that begin with "declare ", "attributes " or "@" are placed before the function.
  std::string text;
  /// The prefix of messages about line n of `text`, from 1.
  std::function<std::string(int)> place;
};

/// The function with this symbol in `module`, created from the fragment if missing.
/// Global variables with one name are shared if linkonce_odr. Throws EmitError.
llvm::Function* fragment_function(llvm::Module& module, const Fragment& fragment);

/// Does the function only access its own memory and that of its parameters?
bool touches_parameters_only(const llvm::Function& function);

}  // namespace tunesmith::llvm_target
