#include "intrinsic_compiler.h"

#include <llvm/TargetParser/Triple.h>

#include "compiler.h"
#include "module_emitter.h"

namespace tunesmith::llvm_target {
namespace {

/// No processor feature: LLVM requires it in addition to each feature of AVX-512.
constexpr const char* kWideRegisters = "evex512";

}  // namespace

std::string LlvmIntrinsicCompiler::refusal(const LoweredProgram& lowered,
                                           std::span<const std::string> features) const {
  Machine machine = machine_;
  if (!features.empty()) {
    // Otherwise vectors of a width that only a feature provides would be split.
    constexpr int64_t kWidest = 512;
    machine.vector_bits = kWidest;
    if (llvm::Triple(machine.triple).isX86())
      machine.feature_string += (machine.feature_string.empty() ? "+" : ",+") + std::string(kWideRegisters);
  }
  for (const std::string& feature : features)
    machine.feature_string += (machine.feature_string.empty() ? "+" : ",+") + feature;
  const auto object =
      Compiler(machine, options_).compile(source_of(lowered, "tunesmith_intrinsic"), OutputKind::Object);
  return object ? "" : object.error();
}

std::vector<std::string> LlvmIntrinsicCompiler::missing_features() const {
  std::vector<std::string> missing = llvm_target::missing_features(machine_);
  std::erase(missing, kWideRegisters);
  return missing;
}

}  // namespace tunesmith::llvm_target
