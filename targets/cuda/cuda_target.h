// The target `cuda`: programs as CUDA C++, run on the emulated device, with a model's times.
#pragma once

#include <memory>

#include "architecture.h"
#include "emulated_kernel.h"
#include "execution.h"
#include "kernel_text.h"
#include "tunesmith/plugin/options.h"
#include "tunesmith/target/target.h"

namespace tunesmith::cuda {

class CudaTarget final : public Target {
 public:
  static std::vector<OptionSpec> specs();
  /// Throws UserError at the option for an architecture that is not known.
  explicit CudaTarget(const Options& options);

  ProbeResult probe() const override;
  const DeviceModel& device() const override { return device_; }
  const ExecutionModel& execution() const override { return execution_; }
  bool models_times() const override { return true; }
  std::string identity() const override;
  std::string fingerprint() const override;
  LowerOptions lower_options() const override;
  Pipeline pipeline() const override { return device_pipeline(); }
  /// "sm_80": is the architecture that one, or a later one?
  bool has_feature(std::string_view name) const override;

  tl::expected<CompiledKernel, std::string> compile(const LoweredProgram& lowered,
                                                    const std::string& symbol) override;
  bool verifies_twins() const override { return true; }
  tl::expected<CompiledKernel, std::string> compile_twin(const LoweredProgram& lowered,
                                                         const LoweredProgram& twin,
                                                         const std::string& symbol) override;
  /// Without checks of its accesses, and not by NVRTC.
  tl::expected<CompiledKernel, std::string> compile_reference(const LoweredProgram& lowered,
                                                              const std::string& symbol) override;
  std::unique_ptr<LoadedKernel> load(const CompiledKernel& kernel) override;
  /// The text of the kernels, as source(): the compiler's instructions are not shown.
  std::string assembly(const LoweredProgram& lowered, const std::string& symbol) override;
  std::optional<std::string> source(const LoweredProgram& lowered, const std::string& symbol) override;
  /// Of the kernels' text (kernel_library.h).
  LibraryFiles build_library(const LibraryRequest& request) override;
  /// Of the model.
  PeakKernel peak_kernel(DType type, int threads) override;
  double measure_copy_bandwidth(int threads) override;

 private:
  std::vector<KernelText> texts_of(const LoweredProgram& lowered, const std::string& symbol) const;
  /// What NVRTC has against the program; "" when there is nothing, or no NVRTC.
  std::string objection(const LoweredProgram& lowered, const std::string& symbol) const;
  /// An object that runs `lowered` and has the modelled time of `timed`.
  tl::expected<CompiledKernel, std::string> emulate(const LoweredProgram& lowered,
                                                    const LoweredProgram& timed, const std::string& symbol,
                                                    const EmulationOptions& options) const;

  Architecture architecture_;
  ExecutionModel execution_;
  std::string runs_on_;  // the option `device`
  DeviceModel device_;
};

}  // namespace tunesmith::cuda
