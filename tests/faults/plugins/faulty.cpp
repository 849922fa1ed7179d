// Kernels of this target compute O[i] = X[i] + 1 for any program, and make the mistake in its annotation.
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <tunesmith/plugin/plugin.h>
#include <tunesmith/target/benchmarking.h>
#include <tunesmith/target/separate_device.h>
#include <tunesmith/target/target.h>

#include "../../conformance/mistake.h"
#include "mistaken_kernel.h"
#include "mistakes.h"

namespace {

using namespace tunesmith;
using namespace tunesmith::test;

constexpr const char* kReference = "reference";
constexpr const char* kPeak = "peak";
template <size_t... numbers>
constexpr std::array<tunesmith_kernel, sizeof...(numbers)> all_preparations(std::index_sequence<numbers...>) {
  return {&prepare<static_cast<Mistake>(numbers)>...};
}
constexpr auto kPreparations =
    all_preparations(std::make_index_sequence<static_cast<size_t>(Mistake::Count)>());

/// Adds the preparation to kernels that add a prepared number instead of one.
CompiledKernel with_step(CompiledKernel kernel, Mistake mistake) {
  if (test::has_preparation(mistake))
    kernel.prepare = PrepareStep{"prepare", test::kPreparedNumbers * int64_t{sizeof(float)}, {}, {}};
  return kernel;
}

template <size_t... numbers>
constexpr std::array<tunesmith_kernel, sizeof...(numbers)> all_kernels(std::index_sequence<numbers...>) {
  return {&run<static_cast<Mistake>(numbers)>...};
}
constexpr auto kKernels = all_kernels(std::make_index_sequence<static_cast<size_t>(Mistake::Count)>());

class FaultyKernel final : public LoadedKernel {
 public:
  FaultyKernel(tunesmith_kernel kernel, Mistake mistake) : kernel_(kernel), mistake_(mistake) {}
  // Comes after all checks of this kernel, so that the next kernel suffers.
  ~FaultyKernel() override {
    if (mistake_ == Mistake::BreaksTheNext) g_broken = true;
    if (mistake_ == Mistake::SpoilsTheNext) g_spoilt = true;
    if (mistake_ == Mistake::LeaksMemory) g_leak = static_cast<char*>(std::malloc(size_t{200} << 20));
  }
  tunesmith_kernel entry() const override {
    throw_if(Mistake::ThrowsInEntry);
    return kernel_;
  }
  tunesmith_kernel prepare() const override {
    throw_if(Mistake::ThrowsInPrepare);
    return kPreparations.at(static_cast<size_t>(mistake_));
  }
  std::optional<KernelFault> take_fault() override {
    throw_if(Mistake::ThrowsInTakeFault);
    return std::nullopt;
  }
  std::optional<double> modelled_seconds() const override {
    throw_if(Mistake::ThrowsInModelledSeconds);
    return mistake_ == Mistake::ModelsNoTime ? std::optional(std::nan("")) : std::nullopt;
  }
  std::optional<double> device_seconds(int, void* const*, void*) override {
    throw_if(Mistake::ThrowsInDeviceSeconds);
    return std::nullopt;
  }

 private:
  void throw_if(Mistake mistake) const {
    if (mistake_ == mistake) throw std::runtime_error("boom in a loaded kernel");
  }

  tunesmith_kernel kernel_;
  Mistake mistake_;
};

class FaultyTarget final : public Target, public Benchmarking, public SeparateDevice {
 public:
  explicit FaultyTarget(const Options& options)
      : crash_every_(options.get_int("crash_every")), is_device_(options.get_bool("device")) {
    for (const char* name : {"vector_bits", "vector_registers", "cores"}) device_.set(name, 4);
  }
  ProbeResult probe() const override {
    misbehave("probe");
    return {};
  }
  const DeviceModel& device() const override { return device_; }
  std::string fingerprint() const override { return "1"; }
  std::string identity() const override { return "faulty"; }
  LowerOptions lower_options() const override { return {}; }

  tl::expected<CompiledKernel, std::string> compile(const LoweredProgram& lowered,
                                                    const std::string& symbol) override {
    misbehave("compile");
    const Program& program = lowered.program;
    const int64_t elements = program.inputs.at(0)->elements();
    if (program.inputs.front()->dtype == kF64) {
      return CompiledKernel{fmt::format("{} {}", kReference, elements), symbol, 0, 1e-3};
    }
    const auto annotation = program.annotations.find("mistake");
    const auto number = annotation == program.annotations.end() ? 0 : std::get<int64_t>(annotation->second);
    if (crash_every_ > 0) {
      const bool crashes = number > 0 && number % crash_every_ == 0;
      const auto chosen = static_cast<size_t>(crashes ? Mistake::Segfaults : Mistake::None);
      return CompiledKernel{fmt::format("{} {}", chosen, elements), symbol, kWorkspaceBytes, 1e-3};
    }
    const auto mistake = static_cast<Mistake>(number);
    if (mistake == Mistake::DoesNotCompile) return tl::make_unexpected(std::string("a mistake"));
    const int64_t workspace = mistake == Mistake::HugeWorkspace ? int64_t{1} << 40 : kWorkspaceBytes;
    return with_step({fmt::format("{} {}", number, elements), symbol, workspace, 1e-3}, mistake);
  }

  std::unique_ptr<LoadedKernel> load(const CompiledKernel& kernel) override {
    const std::string what = kernel.object.substr(0, kernel.object.find(' '));
    if (what == kPeak) return std::make_unique<FaultyKernel>(run_peak, Mistake::None);
    g_elements = std::stoll(kernel.object.substr(what.size()));
    if (what == kReference) return std::make_unique<FaultyKernel>(run_reference, Mistake::None);
    const auto mistake = static_cast<Mistake>(std::stoul(what));
    g_calls = 0;
    g_last_output = nullptr;
    g_kept_inputs.clear();
    if (mistake == Mistake::DoesNotLoad) throw EnvironmentError("the object is damaged");
    if (mistake == Mistake::ThrowsInLoad) throw std::runtime_error("boom in load");
    return std::make_unique<FaultyKernel>(
        is_device_ ? run_one_at_a_time : kKernels.at(static_cast<size_t>(mistake)), mistake);
  }

  std::string assembly(const LoweredProgram&, const std::string&) override { return ""; }
  Benchmarking* benchmarking() override { return this; }
  SeparateDevice* separate_device() override { return is_device_ ? this : nullptr; }
  bool models_times() const override { return false; }
  tl::expected<CompiledKernel, std::string> compile_reference(const LoweredProgram& lowered,
                                                              const std::string& symbol) override {
    return compile(lowered, symbol);
  }
  PeakKernel peak_kernel(DType, int) override {
    misbehave("peak_kernel");
    return {{kPeak, "peak", 0, 0.0}, 1e5};
  }
  double measure_copy_bandwidth(int) override { return 1e9; }

 private:
  DeviceModel device_;
  int64_t crash_every_;
  bool is_device_;
};

}  // namespace

TUNESMITH_PLUGIN(
    FaultyTarget, PluginKind::Target, "faulty", "1.0.0", "runs candidates that are wrong on purpose",
    OptionSpec::integer("crash_every", 0, 0, 1000,
                        "programs between two that crash, all others being right; 0 = as annotated"),
    OptionSpec::boolean("device", false, "kernels, all right, run on a device that calls one at a time"));
