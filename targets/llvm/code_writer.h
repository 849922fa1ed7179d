// Code generation: from a module to an object or to assembly.
#pragma once

#include <memory>
#include <set>
#include <string>

namespace llvm {
class Module;
class TargetMachine;
enum class CodeGenFileType;
}  // namespace llvm

namespace tunesmith::llvm_target {

/// Set up once for one module after another: setting it up costs half a millisecond.
class CodeWriter {
 public:
  CodeWriter(llvm::TargetMachine& machine, llvm::CodeGenFileType file_type);
  ~CodeWriter();

  std::string write(llvm::Module& module);
  /// Names of the LLVM passes that were omitted.
  const std::set<std::string>& left_out() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Names of the passes that a CodeWriter omits, if LLVM has them.
const std::set<std::string>& passes_without_use();

}  // namespace tunesmith::llvm_target
