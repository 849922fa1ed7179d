// Compiles modules: one LLVM target machine and one set of pass managers, for one thread at a time.
#pragma once

#include <memory>
#include <string>

#include <tl/expected.hpp>

#include "codegen_traits.h"
#include "machine.h"
#include "options.h"
#include "tunesmith/lower/lower.h"

namespace llvm {
class LLVMContext;
class Module;
}  // namespace llvm

namespace tunesmith::llvm_target {

enum class OutputKind { Object, Assembly, Ir };

/// Makes a module in the given context.
using ModuleSource = std::function<std::unique_ptr<llvm::Module>(llvm::LLVMContext&, const CodegenTraits&)>;

class Compiler {
 public:
  /// Throws EnvironmentError if LLVM has no back end for the machine.
  Compiler(const Machine& machine, const TargetOptions& options);
  ~Compiler();

  /// The unexpected value says why the program cannot be compiled.
  tl::expected<std::string, std::string> compile(const ModuleSource& source, OutputKind kind);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A pool of compilers, one per concurrently compiling thread.
class CompilerPool {
 public:
  CompilerPool(const Machine& machine, const TargetOptions& options);
  ~CompilerPool();

  tl::expected<std::string, std::string> compile(const ModuleSource& source, OutputKind kind);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tunesmith::llvm_target
