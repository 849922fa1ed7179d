#include "device_peaks.h"

#include <algorithm>

#include <fmt/format.h>

#include "candidates/candidate_object.h"
#include "nvrtc/kernel_compiler.h"

namespace tunesmith::cuda {
namespace {

constexpr const char* kPeakSymbol = "tunesmith_peak";
constexpr unsigned kPeakThreads = 256;
constexpr unsigned kPeakBlocks = 8;  // of a multiprocessor: all that it holds of most architectures
constexpr int kPeakChains = 8;
constexpr int kPeakSteps = 2048;

constexpr size_t kCopyBytes = size_t{256} << 20;
constexpr int kCopies = 5;

// The store is never executed, which the compiler cannot know.
constexpr const char* kPeakText = R"(extern "C" __global__ void __launch_bounds__({threads}) {symbol}() {{
  __shared__ volatile float sink;
  float sums[{chains}];
  const float factor = 0.999f + 1e-9f * threadIdx.x;
#pragma unroll
  for (int i = 0; i < {chains}; i++) sums[i] = (float)(threadIdx.x + i);
#pragma unroll 16
  for (int step = 0; step < {steps}; step++) {{
#pragma unroll
    for (int i = 0; i < {chains}; i++) sums[i] = fmaf(sums[i], factor, 1.0f);
  }}
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < {chains}; i++) sum += sums[i];
  if (sum == -1.0f) sink = sum;
}}
)";

}  // namespace

PeakKernel device_peak_kernel(const Architecture& architecture) {
  const Nvrtc* const nvrtc = Nvrtc::find();
  if (nvrtc == nullptr) throw EnvironmentError(Nvrtc::why_absent());
  const std::string text =
      fmt::format(fmt::runtime(kPeakText), fmt::arg("threads", kPeakThreads), fmt::arg("symbol", kPeakSymbol),
                  fmt::arg("chains", kPeakChains), fmt::arg("steps", kPeakSteps));
  const Compilation compilation = KernelCompiler(*nvrtc).compile(text, "peak.cu", architecture.name);
  if (!compilation.succeeded)
    throw EnvironmentError(fmt::format("the kernel of the peak does not compile: {}", compilation.log));
  CandidateObject object;
  object.runs_on = RunsOn::Gpu;
  object.source = text;
  Launch launch;
  launch.grid[0] = kPeakBlocks * architecture.multiprocessors;
  launch.block[0] = kPeakThreads;
  object.launches.push_back({kPeakSymbol, launch, {}, compilation.cubin});
  const double operations = 2.0 * kPeakChains * kPeakSteps * launch.grid[0] * kPeakThreads;
  return {{object.bytes(), kPeakSymbol, 0, 0.0}, operations};
}

double device_copy_bandwidth(const Device& device) {
  device.use();
  const DeviceMemory from = device.allocate(kCopyBytes), to = device.allocate(kCopyBytes);
  device.fill(from.get(), 0, kCopyBytes);
  double best = 0;
  for (int i = 0; i < kCopies; ++i) {
    device.wait();
    device.begin_time();
    device.on_device(to.get(), from.get(), kCopyBytes);
    best = std::max(best, 2.0 * kCopyBytes / std::max(device.end_time(), 1e-9));
  }
  return best;
}

}  // namespace tunesmith::cuda
