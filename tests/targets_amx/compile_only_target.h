// A target that compiles for another processor and runs nothing.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "lowered_program.h"

namespace tunesmith::testing {

/// Its probe finds all features, as if this machine had the processor.
class CompileOnlyTarget final : public Target, public Benchmarking {
 public:
  explicit CompileOnlyTarget(const std::string& processor) : target_(make_target({{"mcpu", processor}})) {}

  ProbeResult probe() const override { return {}; }
  const DeviceModel& device() const override { return target_->device(); }
  std::string identity() const override { return target_->identity(); }
  std::string fingerprint() const override { return target_->fingerprint(); }
  LowerOptions lower_options() const override { return target_->lower_options(); }
  bool can_prepare() const override { return target_->can_prepare(); }
  bool has_feature(std::string_view name) const override { return target_->has_feature(name); }
  tl::expected<CompiledKernel, std::string> compile(const LoweredProgram& lowered,
                                                    const std::string& symbol) override {
    return target_->compile(lowered, symbol);
  }
  std::unique_ptr<LoadedKernel> load(const CompiledKernel& /*kernel*/) override {
    throw EnvironmentError("this machine is not the processor's");
  }
  std::string assembly(const LoweredProgram& lowered, const std::string& symbol) override {
    return target_->assembly(lowered, symbol);
  }
  Packaging* packaging() override { return target_->packaging(); }
  Benchmarking* benchmarking() override { return this; }
  PeakKernel peak_kernel(DType type, int threads) override { return target_->peak_kernel(type, threads); }
  double measure_copy_bandwidth(int /*threads*/) override {
    throw EnvironmentError("this machine is not the processor's");
  }

 private:
  std::unique_ptr<llvm_target::LlvmTarget> target_;
};

}  // namespace tunesmith::testing
