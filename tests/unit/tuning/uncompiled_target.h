// A target for runs that never call programs, since LLVM would take most of their time.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "tunesmith/ir/program.h"
#include "tunesmith/plugin/registry.h"
#include "tunesmith/support/error.h"
#include "tunesmith/support/hash.h"
#include "tunesmith/target/target.h"

namespace tunesmith {

/// Like `llvm`, but a compiled kernel is its lowered program's hash.
class UncompiledTarget final : public Target {
 public:
  explicit UncompiledTarget(PluginRegistry& registry)
      : llvm_(registry.create<Target>(
            "llvm", Options::defaults(registry.option_specs(PluginKind::Target, "llvm"), "llvm"))) {}

  ProbeResult probe() const override { return llvm_->probe(); }
  const DeviceModel& device() const override { return llvm_->device(); }
  std::string identity() const override { return llvm_->identity(); }
  std::string fingerprint() const override { return llvm_->fingerprint(); }
  LowerOptions lower_options() const override { return llvm_->lower_options(); }
  Pipeline pipeline() const override { return llvm_->pipeline(); }
  std::vector<std::string> consumes() const override { return llvm_->consumes(); }
  bool can_prepare() const override { return llvm_->can_prepare(); }
  bool has_feature(std::string_view name) const override { return llvm_->has_feature(name); }
  tl::expected<CompiledKernel, std::string> compile(const LoweredProgram& lowered,
                                                    const std::string& symbol) override {
    CompiledKernel kernel{hex64(structural_hash(lowered.program)), symbol};
    kernel.prepare = prepare_step(lowered, symbol + "_prepare");
    return kernel;
  }
  std::unique_ptr<LoadedKernel> load(const CompiledKernel& /*kernel*/) override {
    throw EnvironmentError("there is no code");
  }
  std::string assembly(const LoweredProgram& lowered, const std::string& symbol) override {
    return llvm_->assembly(lowered, symbol);
  }

  Benchmarking* benchmarking() override { return llvm_->benchmarking(); }

 private:
  const std::shared_ptr<Target> llvm_;
};

}  // namespace tunesmith
