// The passes between the emitter and the code generator.
#pragma once

#include <memory>
#include <string>

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace tunesmith::llvm_target {

/// Built once, run on many modules, by one thread at a time.
class PassPipeline {
 public:
  explicit PassPipeline(llvm::TargetMachine& machine);
  ~PassPipeline();
  void run(llvm::Module& module);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The name of a register buffer that is still memory after the passes, or "".
std::string register_buffer_in_memory(const llvm::Module& module);

}  // namespace tunesmith::llvm_target
