// The target `cuda`: compiles programs to CUDA C++ and runs them on a GPU, or on the emulated device with
// modelled times.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "candidates/candidate_object.h"
#include "driver/device.h"
#include "machine/architecture.h"
#include "machine/execution.h"
#include "nvrtc/fitted_kernel.h"
#include "text/kernel_text.h"
#include "tunesmith/grid/tile_order.h"
#include "tunesmith/plugin/options.h"
#include "tunesmith/target/benchmarking.h"
#include "tunesmith/target/packaging.h"
#include "tunesmith/target/separate_device.h"
#include "tunesmith/target/target.h"
#include "tunesmith/target/twin_verification.h"

namespace tunesmith::cuda {

class CudaTarget final : public Target,
                         public Packaging,
                         public Benchmarking,
                         public SeparateDevice,
                         public TwinVerification {
 public:
  static std::vector<OptionSpec> specs();
  /// Throws UserError at the option for an architecture that is
  /// unknown, cannot be detected, or whose code the GPU does not run.
  explicit CudaTarget(const Options& options);

  ProbeResult probe() const override;
  const DeviceModel& device() const override { return device_; }
  const ExecutionModel& execution() const override { return execution_; }
  std::vector<std::string> consumes() const override { return {kTileColumns, kTileGroup}; }
  std::string identity() const override;
  std::string fingerprint() const override;
  LowerOptions lower_options() const override;
  Pipeline pipeline() const override { return device_pipeline(); }
  /// Is the architecture this one ("sm_80") or a later one?
  bool has_feature(std::string_view name) const override;

  tl::expected<CompiledKernel, std::string> compile(const LoweredProgram& lowered,
                                                    const std::string& symbol) override;
  std::unique_ptr<LoadedKernel> load(const CompiledKernel& kernel) override;
  /// The text of the kernels, as source(), instead of machine code.
  std::string assembly(const LoweredProgram& lowered, const std::string& symbol) override;
  std::optional<std::string> source(const LoweredProgram& lowered, const std::string& symbol) override;

  Packaging* packaging() override { return this; }
  /// Of the kernels' text (kernel_library.h).
  LibraryFiles build_library(const LibraryRequest& request) override;

  Benchmarking* benchmarking() override { return this; }
  /// From the model, or from a kernel on the GPU.
  PeakKernel peak_kernel(DType type, int threads) override;
  double measure_copy_bandwidth(int threads) override;

  SeparateDevice* separate_device() override { return this; }
  void open() override;
  std::string remark() const override;
  bool models_times() const override { return !on_gpu_; }
  /// For the host, without checks of its accesses, and not by NVRTC: one thread of a GPU is slow.
  tl::expected<CompiledKernel, std::string> compile_reference(const LoweredProgram& lowered,
                                                              const std::string& symbol) override;

  /// A GPU runs programs of any shape.
  TwinVerification* twins() override { return on_gpu_ ? nullptr : this; }
  std::unique_ptr<ReducedInstanceFinder> make_finder(const Workload& workload,
                                                     const Space& space) const override;
  tl::expected<CompiledKernel, std::string> compile_reduced_instance(const LoweredProgram& lowered,
                                                                     const LoweredProgram& twin,
                                                                     const std::string& symbol) override;
  /// compile_reduced_instance() for the emulated device, without NVRTC's checks of `lowered`.
  tl::expected<CompiledKernel, std::string> compile_emulated(const LoweredProgram& lowered,
                                                             const LoweredProgram& twin,
                                                             const std::string& symbol,
                                                             std::span<const TextForm> forms = {}) const;

  /// The text of each kernel, which the target compiles.
  std::vector<KernelText> texts_of(const LoweredProgram& lowered, const std::string& symbol,
                                   std::span<const TextForm> forms = {}) const;
  /// Each kernel in the form in which it fits the architecture, if any.
  std::vector<FittedKernel> fit(const LoweredProgram& lowered, const std::string& symbol,
                                const KernelCompiler& compiler, const Architecture& architecture) const;

 private:
  using Programs = tl::expected<std::vector<std::string>, std::string>;

  struct Cubins {
    std::vector<KernelText> kernels;
    std::vector<TextForm> forms;
    std::vector<std::string> programs;  // "" without NVRTC
  };

  /// One for each kernel. The unexpected value is NVRTC's error.
  tl::expected<Cubins, std::string> cubins(const LoweredProgram& lowered, const std::string& symbol) const;
  /// For each kernel an executable for the emulation, or, unchecked, for the host's processor.
  Programs executables(std::span<const KernelText> kernels, bool checked) const;
  /// An object of such programs of `lowered`, with the modelled time of `timed`.
  CompiledKernel kernel_of(const LoweredProgram& lowered, const LoweredProgram& timed, RunsOn runs_on,
                           std::span<const KernelText> kernels, std::vector<std::string> programs,
                           const std::string& symbol) const;
  const Device& gpu();

  bool on_gpu_;                            // the option `device`
  std::optional<DeviceDescription> here_;  // the GPU, if requested and available
  Architecture architecture_;
  ExecutionModel execution_;
  DeviceModel device_;
  std::mutex mutex_;
  std::unique_ptr<Device> gpu_;  // once something runs on it
};

}  // namespace tunesmith::cuda
