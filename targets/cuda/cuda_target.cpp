#include "cuda_target.h"

#include <algorithm>
#include <charconv>
#include <chrono>

#include <fmt/format.h>

#include "emulated_candidate.h"
#include "expr_text.h"
#include "generator_fingerprint.h"
#include "kernel_library.h"
#include "kernel_text.h"
#include "nvrtc.h"
#include "refusal.h"
#include "run_process.h"
#include "tunesmith/features/grid_work.h"
#include "vector_loops.h"

namespace tunesmith::cuda {
namespace {

/// Of a peak kernel: so many that a launch costs nothing beside them.
constexpr double kPeakOperations = 1e12;

/// Where the kernel's argument lies in a call.
ObjectArgument argument_of(const Buffer& buffer, const LoweredProgram& lowered) {
  const std::vector<Buffer> known = lowered.program.buffers();
  const auto found = std::ranges::find(known, buffer);
  if (found != known.end())
    return {buffer->name, false, found - known.begin(), buffer->bytes(), storage_type(buffer->dtype)};
  const auto slot = std::ranges::find(lowered.workspace, buffer, &WorkspaceSlot::buffer);
  check_invariant(slot != lowered.workspace.end(), "what a kernel takes is an argument or workspace");
  return {buffer->name, true, slot->offset, buffer->bytes(), storage_type(buffer->dtype)};
}

}  // namespace

std::vector<OptionSpec> CudaTarget::specs() {
  return {
      OptionSpec::string("arch", "sm_80", "architecture that the code and the model of its times are for"),
      OptionSpec::choice("device", "emulated", {"emulated"},
                         "what programs run on: the emulation, which checks them and takes no times")};
}

CudaTarget::CudaTarget(const Options& options) : runs_on_(options.get_string("device")) {
  try {
    architecture_ = find_architecture(options.get_string("arch"));
  } catch (const UserError& error) {
    options.fail("arch", error.what());
  }
  execution_ = execution_of(architecture_);
  device_ = device_of(architecture_);
}

ProbeResult CudaTarget::probe() const {
  return {EmulatedKernel::has_compiler() ? "" : "a C++ compiler (g++ or c++ in PATH, or TUNESMITH_CXX)"};
}

std::string CudaTarget::identity() const {
  return fmt::format("cuda arch={} device={} times=modelled", architecture_.name, runs_on_);
}

std::string CudaTarget::fingerprint() const { return kGeneratorFingerprint; }

bool CudaTarget::has_feature(std::string_view name) const {
  const auto generation = [](std::string_view architecture) {
    int number = 0;
    const std::string_view digits = architecture.substr(std::min<size_t>(architecture.size(), 3));
    std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return architecture.starts_with("sm_") ? number : 0;
  };
  return generation(name) > 0 && generation(name) <= generation(architecture_.name);
}

LowerOptions CudaTarget::lower_options() const {
  LowerOptions options;
  // Vectors are those of loads and stores.
  options.vector_bits = kAccessBytes * 8;
  options.vector_registers = kMostRegistersOfThread / 4;
  options.execution = execution_;
  return options;
}

std::vector<KernelText> CudaTarget::texts_of(const LoweredProgram& lowered, const std::string& symbol) const {
  return kernel_texts(lowered, execution_, static_cast<int64_t>(architecture_.static_shared_bytes), symbol);
}

std::string CudaTarget::objection(const LoweredProgram& lowered, const std::string& symbol) const {
  const Nvrtc* const nvrtc = Nvrtc::find();
  if (nvrtc == nullptr) return {};
  for (const KernelText& kernel : texts_of(lowered, symbol)) {
    const Compilation compilation =
        KernelCompiler(*nvrtc).compile(program_text({&kernel, 1}), kernel.name + ".cu", architecture_.name);
    if (const auto refusal = refuse(compilation, kernel.name, architecture_, kernel.launch))
      return fmt::format("{}: {}", refusal_name(refusal->cause), refusal->text);
  }
  return {};
}

tl::expected<CompiledKernel, std::string> CudaTarget::emulate(const LoweredProgram& lowered,
                                                              const LoweredProgram& timed,
                                                              const std::string& symbol,
                                                              const EmulationOptions& options) const {
  CandidateObject object;
  object.modelled_seconds = grid_seconds(timed.program, execution_, device_);
  object.checked = options.checked;
  const size_t inputs = lowered.program.inputs.size();
  for (size_t i = 0; i < lowered.program.outputs.size(); ++i)
    object.outputs.push_back(static_cast<int64_t>(inputs + i));
  const std::vector<KernelText> kernels = texts_of(lowered, symbol);
  object.source = program_text(kernels);
  for (const KernelText& kernel : kernels) {
    EmulationOptions compiled = options;
    compiled.dynamic_shared_bytes = kernel.launch.dynamic_shared_bytes;
    const EmulatedKernel emulated(program_text({&kernel, 1}), kernel.name, kernel.name + ".cu", compiled);
    if (!emulated.compiled())
      return tl::unexpected(fmt::format("the host's compiler: {}", emulated.log().substr(0, 2000)));
    ObjectLaunch launch{kernel.name, kernel.launch, {}, emulated.program()};
    for (const Buffer& buffer : kernel.arguments) launch.arguments.push_back(argument_of(buffer, lowered));
    object.launches.push_back(std::move(launch));
  }
  return CompiledKernel{object.bytes(), symbol, lowered.workspace_bytes};
}

tl::expected<CompiledKernel, std::string> CudaTarget::compile(const LoweredProgram& lowered,
                                                              const std::string& symbol) {
  return compile_twin(lowered, lowered, symbol);
}

tl::expected<CompiledKernel, std::string> CudaTarget::compile_twin(const LoweredProgram& lowered,
                                                                   const LoweredProgram& twin,
                                                                   const std::string& symbol) {
  const auto started = std::chrono::steady_clock::now();
  if (std::string why = objection(lowered, symbol); !why.empty()) return tl::unexpected(std::move(why));
  auto kernel = emulate(twin, lowered, symbol, {});
  if (kernel) {
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - started;
    kernel->compile_seconds = seconds.count();
  }
  return kernel;
}

tl::expected<CompiledKernel, std::string> CudaTarget::compile_reference(const LoweredProgram& lowered,
                                                                        const std::string& symbol) {
  return emulate(lowered, lowered, symbol, {.checked = false});
}

std::unique_ptr<LoadedKernel> CudaTarget::load(const CompiledKernel& kernel) {
  return std::make_unique<EmulatedCandidate>(kernel.object);
}

std::string CudaTarget::assembly(const LoweredProgram& lowered, const std::string& symbol) {
  return program_text(texts_of(lowered, symbol));
}

std::optional<std::string> CudaTarget::source(const LoweredProgram& lowered, const std::string& symbol) {
  return program_text(texts_of(lowered, symbol));
}

LibraryFiles CudaTarget::build_library(const LibraryRequest& request) {
  return write_library(request, architecture_);
}

PeakKernel CudaTarget::peak_kernel(DType /*type*/, int /*threads*/) {
  CandidateObject object;
  object.modelled_seconds = kPeakOperations / (2 * device_.get("cores") * device_.get("fma_per_cycle") *
                                               device_.get("clock_ghz") * 1e9);
  return {{object.bytes(), "tunesmith_peak", 0, 0.0}, kPeakOperations};
}

double CudaTarget::measure_copy_bandwidth(int /*threads*/) { return device_.get("memory_bytes_per_second"); }

}  // namespace tunesmith::cuda
