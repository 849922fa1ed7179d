// Links compiled objects into this process.
#pragma once

#include <memory>
#include <string>

#include "tunesmith/target/target.h"

namespace tunesmith::llvm_target {

/// Used by one thread. Kernels may outlive it.
class Loader {
 public:
  /// Throws EnvironmentError if LLVM cannot initialise its JIT.
  Loader();
  ~Loader();

  /// Throws EnvironmentError if the object is damaged or lacks a symbol.
  std::unique_ptr<LoadedKernel> load(const CompiledKernel& kernel);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace tunesmith::llvm_target
