// Collects LLVM's errors during code generation, which LLVM would otherwise print before ending the process.
#pragma once

#include <string>

namespace llvm {
class LLVMContext;
class Module;
}  // namespace llvm

namespace tunesmith::llvm_target {

/// For one context, which must compile nothing after the destructor; single-threaded.
class Diagnostics {
 public:
  explicit Diagnostics(llvm::LLVMContext& context);

  /// Sets the module whose inline assembly (assembly_places.h) is located. It outlives the errors.
  void speak_of(const llvm::Module& module) { module_ = &module; }
  bool failed() const { return !error_.empty(); }
  /// The first error in one line, with its location if known.
  const std::string& error() const { return error_; }

 private:
  class Handler;
  const llvm::Module* module_ = nullptr;
  std::string error_;
};

}  // namespace tunesmith::llvm_target
