// Tests whether LLVM compiles tensor intrinsics; it ends the process if it cannot select instructions.
#pragma once

#include "machine.h"
#include "options.h"
#include "tunesmith/target/intrinsic_compiler.h"

namespace tunesmith::llvm_target {

class LlvmIntrinsicCompiler final : public IntrinsicCompiler {
 public:
  LlvmIntrinsicCompiler(const Machine& machine, const TargetOptions& options)
      : machine_(machine), options_(options) {}

  std::string refusal(const LoweredProgram& lowered, std::span<const std::string> features) const override;
  std::vector<std::string> missing_features() const override;

 private:
  const Machine machine_;
  const TargetOptions options_;
};

}  // namespace tunesmith::llvm_target
