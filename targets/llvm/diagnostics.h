// What LLVM finds wrong while it generates code, collected: by itself it would print it and end the process.
#pragma once

#include <string>

namespace llvm {
class LLVMContext;
class Module;
}  // namespace llvm

namespace tunesmith::llvm_target {

/// Of one context, which compiles nothing more when this is gone; used by one thread.
class Diagnostics {
 public:
  explicit Diagnostics(llvm::LLVMContext& context);

  /// Places of inline assembly (assembly_places.h) are this module's from now on. It outlives the errors.
  void speak_of(const llvm::Module& module) { module_ = &module; }
  bool failed() const { return !error_.empty(); }
  /// The first error, one line, with its place where that is known.
  const std::string& error() const { return error_; }

 private:
  class Handler;
  const llvm::Module* module_ = nullptr;
  std::string error_;
};

}  // namespace tunesmith::llvm_target
