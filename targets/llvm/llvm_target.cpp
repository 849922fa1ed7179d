#include "llvm_target.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/IR/LLVMContext.h>

#include "emit_setup.h"
#include "module_emitter.h"
#include "tunesmith/support/hash.h"

namespace tunesmith::llvm_target {
namespace {

/// Raise it when the emitter, the passes or LLVM's options may give different code for a lowered program.
/// tests/golden fails in that case and says so.
constexpr int kGeneratorVersion = 2;

}  // namespace

LlvmTarget::LlvmTarget(const Options& options)
    : options_(TargetOptions::from(options)),
      machine_(detect_machine(options_)),
      compilers_(machine_, options_),
      intrinsic_compiler_(machine_, options_) {}

ProbeResult LlvmTarget::probe() const { return {machine_.missing}; }

std::string LlvmTarget::identity() const {
  // A hash of the features, of which there are a hundred.
  const std::string features = fmt::format("{}", fmt::join(machine_.features, ","));
  return fmt::format(
      "llvm 19 cpu={} features={} vector_bits={} contract={} reassociate={} reciprocal={} codegen={}",
      machine_.cpu, hex64(hash_bytes(features)), machine_.vector_bits, options_.contract,
      options_.reassociate, options_.reciprocal, options_.codegen);
}

std::string LlvmTarget::fingerprint() const {
  return fmt::format("{},llvm-{}", kGeneratorVersion, LLVM_VERSION_STRING);
}

LowerOptions LlvmTarget::lower_options() const {
  LowerOptions result;
  result.vector_bits = machine_.vector_bits;
  result.vector_registers = machine_.vector_registers;
  result.parameters = true;
  return result;
}

tl::expected<CompiledKernel, std::string> LlvmTarget::compile(const LoweredProgram& lowered,
                                                              const std::string& symbol) {
  const auto started = std::chrono::steady_clock::now();
  auto object = compilers_.compile(source_of(lowered, symbol), OutputKind::Object);
  if (!object) return tl::unexpected(std::move(object.error()));
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - started;
  const int64_t workspace =
      std::max(lowered.workspace_bytes, lowered.prepare ? lowered.prepare->workspace_bytes : 0);
  return CompiledKernel{std::move(*object),
                        symbol,
                        workspace,
                        seconds.count(),
                        prepare_step(lowered, prepare_symbol(symbol)),
                        setup_step(units_of(lowered), symbol)};
}

std::unique_ptr<LoadedKernel> LlvmTarget::load(const CompiledKernel& kernel) {
  if (!loader_) loader_.emplace();
  return loader_->load(kernel);
}

std::string LlvmTarget::text(const LoweredProgram& lowered, const std::string& symbol, OutputKind kind) {
  auto result = compilers_.compile(source_of(lowered, symbol), kind);
  if (!result) throw LowerError("llvm", "the program cannot be compiled", result.error());
  return std::move(*result);
}

std::string LlvmTarget::assembly(const LoweredProgram& lowered, const std::string& symbol) {
  return text(lowered, symbol, OutputKind::Assembly);
}

std::string LlvmTarget::ir(const LoweredProgram& lowered, const std::string& symbol) {
  return text(lowered, symbol, OutputKind::Ir);
}

}  // namespace tunesmith::llvm_target
