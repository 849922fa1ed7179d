#include "cuda_target.h"

#include <algorithm>
#include <charconv>
#include <chrono>

#include <fmt/format.h>

#include "candidates/data_dependence.h"
#include "candidates/device_candidate.h"
#include "candidates/emulated_candidate.h"
#include "candidates/kernel_library.h"
#include "device_peaks.h"
#include "driver/detected_architecture.h"
#include "generator.h"
#include "machine/vector_loops.h"
#include "nvrtc/disassembler.h"
#include "nvrtc/nvrtc.h"
#include "nvrtc/refusal.h"
#include "text/expr_text.h"
#include "text/kernel_text.h"
#include "tunesmith/grid/twins.h"
#include "tunesmith/performance/grid_work.h"

namespace tunesmith::cuda {
namespace {

/// Operations of a peak kernel, enough to make the launch negligible.
constexpr double kPeakOperations = 1e12;

/// The position of a kernel's argument in a call.
ObjectArgument argument_of(const Buffer& buffer, const LoweredProgram& lowered) {
  const std::vector<Buffer> known = lowered.program.buffers();
  const auto found = std::ranges::find(known, buffer);
  if (found != known.end())
    return {buffer->name, false, found - known.begin(), buffer->bytes(), storage_type(buffer->dtype), {}};
  const auto slot = std::ranges::find(lowered.workspace, buffer, &WorkspaceSlot::buffer);
  check_invariant(slot != lowered.workspace.end(), "what a kernel takes is an argument or workspace");
  return {buffer->name, true, slot->offset, buffer->bytes(), storage_type(buffer->dtype), {}};
}

}  // namespace

std::vector<OptionSpec> CudaTarget::specs() {
  return {
      OptionSpec::string("arch", "sm_80",
                         "architecture that the code and the model of its times are for; detect: the GPU's"),
      OptionSpec::choice(
          "device", "emulated", {"emulated", "gpu"},
          "what programs run on: the emulation, which checks them and takes no times, or a GPU")};
}

CudaTarget::CudaTarget(const Options& options) : on_gpu_(options.get_string("device") == "gpu") {
  const std::string& arch = options.get_string("arch");
  const bool detect = arch == kDetect;
  if (on_gpu_ || detect) {
    if (const Driver* const driver = Driver::find()) here_ = describe_device(*driver);
  }
  if (detect && !here_)
    options.fail("arch",
                 fmt::format("there is no GPU to detect ({}); name an architecture", Driver::why_absent()));
  try {
    architecture_ = detect ? architecture_of(*here_) : find_architecture(arch);
  } catch (const UserError& error) {
    options.fail("arch", error.what());
  }
  if (on_gpu_ && here_) {
    if (std::string why = why_not_run(architecture_, *here_); !why.empty()) options.fail("arch", why);
    take_speeds(architecture_, *here_);
  }
  execution_ = execution_of(architecture_);
  device_ = device_of(architecture_);
}

ProbeResult CudaTarget::probe() const {
  // The reference is the host's, on a GPU, too.
  if (!EmulatedKernel::has_compiler()) return {"a C++ compiler (g++ or c++ in PATH, or TUNESMITH_CXX)"};
  if (on_gpu_ && !here_) return {fmt::format("a GPU ({})", Driver::why_absent())};
  if (on_gpu_ && Nvrtc::find() == nullptr) return {fmt::format("NVRTC ({})", Nvrtc::why_absent())};
  return {};
}

std::string CudaTarget::identity() const {
  if (on_gpu_)
    return fmt::format("cuda arch={} device=gpu {}", architecture_.name, here_ ? here_->name : "absent");
  return fmt::format("cuda arch={} device=emulated times=modelled", architecture_.name);
}

std::string CudaTarget::remark() const {
  const Driver* const driver = Driver::find();
  if (driver == nullptr)
    return fmt::format("compile-only: nothing is measured on a GPU here ({})", Driver::why_absent());
  const DeviceDescription device = describe_device(*driver);
  return fmt::format("GPU here: {}, {}.{}, {} multiprocessors{}", device.name, device.major, device.minor,
                     device.multiprocessors, on_gpu_ ? "" : "; the option device: gpu measures on it");
}

void CudaTarget::open() {
  if (on_gpu_) gpu();
}

const Device& CudaTarget::gpu() {
  const std::lock_guard lock(mutex_);
  if (!gpu_) {
    const Driver* const driver = Driver::find();
    if (driver == nullptr) throw EnvironmentError(Driver::why_absent());
    gpu_ = std::make_unique<Device>(*driver);
  }
  return *gpu_;
}

std::string CudaTarget::fingerprint() const { return generator_fingerprint(Nvrtc::find()); }

bool CudaTarget::has_feature(std::string_view name) const {
  const auto generation = [](std::string_view architecture) {
    int number = 0;
    const std::string_view digits = architecture.substr(std::min<size_t>(architecture.size(), 3));
    std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return architecture.starts_with("sm_") ? number : 0;
  };
  // A name with a letter suffix is for that architecture only.
  if (!name.empty() && (name.back() < '0' || name.back() > '9')) return name == architecture_.name;
  return generation(name) > 0 && generation(name) <= generation(architecture_.name);
}

LowerOptions CudaTarget::lower_options() const {
  LowerOptions options;
  // The vectors of loads and stores.
  options.vector_bits = kAccessBytes * 8;
  options.vector_registers = kMaxRegistersOfThread / 4;
  options.execution = execution_;
  return options;
}

std::vector<KernelText> CudaTarget::texts_of(const LoweredProgram& lowered, const std::string& symbol,
                                             std::span<const TextForm> forms) const {
  return kernel_texts(lowered, execution_, static_cast<int64_t>(architecture_.static_shared_bytes), symbol,
                      forms);
}

std::vector<FittedKernel> CudaTarget::fit(const LoweredProgram& lowered, const std::string& symbol,
                                          const KernelCompiler& compiler,
                                          const Architecture& architecture) const {
  std::vector<FittedKernel> fitted;
  const std::vector<KernelText> usual = texts_of(lowered, symbol);
  for (size_t i = 0; i < usual.size(); ++i) {
    fitted.push_back(fit_kernel(compiler, architecture, [&](TextForm form) {
      if (form == TextForm::Usual) return usual[i];
      return texts_of(lowered, symbol, std::vector<TextForm>(usual.size(), form))[i];
    }));
  }
  return fitted;
}

tl::expected<CudaTarget::Cubins, std::string> CudaTarget::cubins(const LoweredProgram& lowered,
                                                                 const std::string& symbol) const {
  Cubins cubins;
  const Nvrtc* const nvrtc = Nvrtc::find();
  if (nvrtc == nullptr) {
    cubins.kernels = texts_of(lowered, symbol);
    cubins.forms.resize(cubins.kernels.size());
    cubins.programs.resize(cubins.kernels.size());
    return cubins;
  }
  for (FittedKernel& one : fit(lowered, symbol, KernelCompiler(*nvrtc), architecture_)) {
    if (one.refusal)
      return tl::make_unexpected(fmt::format("{}: {}", refusal_name(one.refusal->cause), one.refusal->text));
    cubins.kernels.push_back(std::move(one.text));
    cubins.forms.push_back(one.form);
    cubins.programs.push_back(std::move(one.cubin));
  }
  return cubins;
}

CudaTarget::Programs CudaTarget::executables(std::span<const KernelText> kernels, bool checked) const {
  const auto shares = [](const KernelText& kernel) {
    return kernel.text.find("__shared__") != std::string::npos;
  };
  // Compiling and linking take long even for small texts.
  const size_t at_once = std::ranges::count_if(kernels, shares) > 1 ? 1 : kernels.size();
  std::vector<std::string> programs;
  for (size_t first = 0; first < kernels.size(); first += at_once) {
    EmulationOptions options{.checked = checked};
    options.static_shared_bytes = architecture_.static_shared_bytes;
    std::vector<std::string> names;
    for (const KernelText& kernel : kernels.subspan(first, at_once)) {
      options.dynamic_shared_bytes =
          std::max(options.dynamic_shared_bytes, kernel.launch.dynamic_shared_bytes);
      names.push_back(kernel.name);
    }
    const EmulatedKernel emulated(program_text(kernels.subspan(first, at_once)), names, names.front() + ".cu",
                                  options);
    if (!emulated.compiled())
      return tl::make_unexpected(fmt::format("the host's compiler: {}", emulated.log().substr(0, 2000)));
    programs.insert(programs.end(), at_once, emulated.program());
  }
  return programs;
}

CompiledKernel CudaTarget::kernel_of(const LoweredProgram& lowered, const LoweredProgram& timed,
                                     RunsOn runs_on, std::span<const KernelText> kernels,
                                     std::vector<std::string> programs, const std::string& symbol) const {
  CandidateObject object;
  object.runs_on = runs_on;
  object.modelled_seconds = grid_seconds(timed.program, execution_, device_);
  object.checks_depend_on_data = accesses_depend_on_data(lowered.program);
  const size_t inputs = lowered.program.inputs.size();
  for (size_t i = 0; i < lowered.program.outputs.size(); ++i)
    object.outputs.push_back(static_cast<int64_t>(inputs + i));
  object.source = program_text(kernels);
  for (size_t i = 0; i < kernels.size(); ++i) {
    ObjectLaunch launch{kernels[i].name, kernels[i].launch, {}, std::move(programs[i])};
    for (const Buffer& buffer : kernels[i].arguments)
      launch.arguments.push_back(argument_of(buffer, lowered));
    for (const MappedTensor& map : kernels[i].maps)
      launch.arguments.emplace_back(argument_of(map.buffer, lowered)).tensor = map.tensor;
    object.launches.push_back(std::move(launch));
  }
  return {object.bytes(), symbol, lowered.workspace_bytes};
}

tl::expected<CompiledKernel, std::string> CudaTarget::compile(const LoweredProgram& lowered,
                                                              const std::string& symbol) {
  return compile_reduced_instance(lowered, lowered, symbol);
}

tl::expected<CompiledKernel, std::string> CudaTarget::compile_reduced_instance(const LoweredProgram& lowered,
                                                                               const LoweredProgram& twin,
                                                                               const std::string& symbol) {
  const auto started = std::chrono::steady_clock::now();
  if (on_gpu_ && Nvrtc::find() == nullptr) throw EnvironmentError(Nvrtc::why_absent());
  auto own = cubins(lowered, symbol);
  if (!own) return tl::make_unexpected(own.error());
  tl::expected<CompiledKernel, std::string> kernel =
      on_gpu_ ? kernel_of(twin, lowered, RunsOn::Gpu, own->kernels, std::move(own->programs), symbol)
              : compile_emulated(lowered, twin, symbol, own->forms);
  if (!kernel) return kernel;
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - started;
  kernel->compile_seconds = seconds.count();
  return kernel;
}

tl::expected<CompiledKernel, std::string> CudaTarget::compile_emulated(
    const LoweredProgram& lowered, const LoweredProgram& twin, const std::string& symbol,
    std::span<const TextForm> forms) const {
  const std::vector<KernelText> kernels = texts_of(twin, symbol, forms);
  Programs programs = executables(kernels, true);
  if (!programs) return tl::make_unexpected(programs.error());
  return kernel_of(twin, lowered, RunsOn::Emulation, kernels, std::move(*programs), symbol);
}

tl::expected<CompiledKernel, std::string> CudaTarget::compile_reference(const LoweredProgram& lowered,
                                                                        const std::string& symbol) {
  const std::vector<KernelText> kernels = texts_of(lowered, symbol);
  Programs programs = executables(kernels, false);
  if (!programs) return tl::make_unexpected(programs.error());
  return kernel_of(lowered, lowered, RunsOn::Host, kernels, std::move(*programs), symbol);
}

std::unique_ptr<ReducedInstanceFinder> CudaTarget::make_finder(const Workload& workload,
                                                               const Space& space) const {
  return make_grid_twin_finder(workload, space);
}

std::unique_ptr<LoadedKernel> CudaTarget::load(const CompiledKernel& kernel) {
  CandidateObject object = CandidateObject::parse(kernel.object);
  if (object.runs_on == RunsOn::Gpu)
    return std::make_unique<DeviceCandidate>(gpu(), std::move(object), kernel.workspace_bytes);
  return std::make_unique<EmulatedCandidate>(kernel.object);
}

std::string CudaTarget::assembly(const LoweredProgram& lowered, const std::string& symbol) {
  const std::vector<KernelText> kernels = texts_of(lowered, symbol);
  const auto text_because = [&](const std::string& why) {
    return fmt::format("// Not the machine code: {}.\n{}", why, program_text(kernels));
  };
  if (Nvrtc::find() == nullptr) return text_because(Nvrtc::why_absent());
  const std::string disassembler = find_disassembler();
  if (disassembler.empty()) return text_because("nvdisasm is not in PATH, and TUNESMITH_NVDISASM names none");
  const auto own = cubins(lowered, symbol);
  if (!own) return text_because(own.error());
  std::string code;
  for (const std::string& program : own->programs) code += disassemble(disassembler, program);
  return code;
}

std::optional<std::string> CudaTarget::source(const LoweredProgram& lowered, const std::string& symbol) {
  return program_text(texts_of(lowered, symbol));
}

LibraryFiles CudaTarget::build_library(const LibraryRequest& request) {
  return write_library(request, architecture_);
}

PeakKernel CudaTarget::peak_kernel(DType /*type*/, int /*threads*/) {
  if (on_gpu_) return device_peak_kernel(architecture_);
  CandidateObject object;
  object.modelled_seconds = kPeakOperations / (2 * device_.get("cores") * device_.get("fma_per_cycle") *
                                               device_.get("clock_ghz") * 1e9);
  return {{object.bytes(), "tunesmith_peak", 0, 0.0}, kPeakOperations};
}

double CudaTarget::measure_copy_bandwidth(int /*threads*/) {
  return on_gpu_ ? device_copy_bandwidth(gpu()) : device_.get("memory_bytes_per_second");
}

}  // namespace tunesmith::cuda
