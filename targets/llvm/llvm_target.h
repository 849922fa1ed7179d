// The target "llvm": programs compiled by LLVM for this machine's processor.
#pragma once

#include <memory>
#include <optional>

#include "compiler.h"
#include "intrinsic_compiler.h"
#include "loader.h"
#include "machine.h"
#include "tunesmith/ir/annotation_keys.h"
#include "tunesmith/target/benchmarking.h"
#include "tunesmith/target/packaging.h"
#include "tunesmith/target/target.h"

namespace tunesmith::llvm_target {

class LlvmTarget final : public Target, public Packaging, public Benchmarking {
 public:
  explicit LlvmTarget(const Options& options);

  ProbeResult probe() const override;
  const DeviceModel& device() const override { return machine_.device; }
  std::string identity() const override;
  std::string fingerprint() const override;
  LowerOptions lower_options() const override;
  /// emit_prefetch.cpp, emit_prefetch_behind.cpp, emit_nontemporal.cpp
  std::vector<std::string> consumes() const override { return {kPrefetch, kPrefetchBehind, kNontemporal}; }
  bool can_prepare() const override { return true; }
  /// LLVM's names.
  bool has_feature(std::string_view name) const override { return machine_.has(name); }

  const IntrinsicCompiler* intrinsic_compiler() const override { return &intrinsic_compiler_; }
  tl::expected<CompiledKernel, std::string> compile(const LoweredProgram& lowered,
                                                    const std::string& symbol) override;
  std::unique_ptr<LoadedKernel> load(const CompiledKernel& kernel) override;
  std::string assembly(const LoweredProgram& lowered, const std::string& symbol) override;

  Packaging* packaging() override { return this; }
  LibraryFiles build_library(const LibraryRequest& request) override;
  LibraryFiles link_library(const LinkRequest& request) override;

  Benchmarking* benchmarking() override { return this; }
  PeakKernel peak_kernel(DType type, int threads) override;
  double measure_copy_bandwidth(int threads) override;

  /// The LLVM IR before code generation, for tests. Throws Error if the program cannot be compiled.
  std::string ir(const LoweredProgram& lowered, const std::string& symbol);

 private:
  std::string text(const LoweredProgram& lowered, const std::string& symbol, OutputKind kind);

  TargetOptions options_;
  Machine machine_;
  CompilerPool compilers_;
  LlvmIntrinsicCompiler intrinsic_compiler_;
  std::optional<Loader> loader_;
};

}  // namespace tunesmith::llvm_target
