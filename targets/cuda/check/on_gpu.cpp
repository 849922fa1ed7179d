#include "on_gpu.h"

#include <algorithm>
#include <cmath>
#include <list>

#include <fmt/format.h>

#include "driver/detected_architecture.h"
#include "driver/device.h"
#include "nvrtc/kernel_compiler.h"
#include "nvrtc/refusal.h"
#include "tunesmith/support/error.h"

namespace tunesmith::cuda {
namespace {

constexpr double kSampleSeconds = 2e-3;

std::string compile(const std::string& text, const std::string& file, const std::string& kernel,
                    const Launch& launch, const Architecture& architecture,
                    const std::vector<std::string>& options) {
  const Nvrtc* const nvrtc = Nvrtc::find();
  if (nvrtc == nullptr) throw EnvironmentError("a GPU's code needs NVRTC: " + Nvrtc::why_absent());
  Compilation compilation = KernelCompiler(*nvrtc).compile(text, file, architecture.name, options);
  const auto refusal = refuse(compilation, kernel, architecture, launch);
  // A kernel that spills can run.
  if (refusal && refusal->cause != RefusalCause::Spills && refusal->cause != RefusalCause::Serialised)
    throw UserError(SourceLocation{file, 0, 0},
                    fmt::format("refused, {}: {}", refusal_name(refusal->cause), refusal->text));
  return std::move(compilation.cubin);
}

}  // namespace

GpuRun run_on_gpu(const std::string& text, const std::string& file, const std::string& kernel,
                  const Launch& launch, const std::vector<std::string>& options,
                  std::vector<CheckedArgument>& arguments) {
  const Driver* const driver = Driver::find();
  if (driver == nullptr) throw EnvironmentError(Driver::why_absent());
  const DeviceDescription description = describe_device(*driver);
  const std::string cubin = compile(text, file, kernel, launch, architecture_of(description), options);
  const Device device(*driver);
  device.use();
  const DeviceModule module = device.load(cubin);
  const DriverFunction function = device.function(module, kernel, launch);
  std::vector<DeviceMemory> buffers;
  std::list<DriverPointer> addresses;
  std::vector<void*> parameters;
  for (CheckedArgument& one : arguments) {
    EmulatedArgument& argument = one.argument;
    if (argument.kind == EmulatedArgument::Kind::Map || argument.kind == EmulatedArgument::Kind::Hidden)
      throw UserError(fmt::format("'{}': tensor maps run on the emulated device only", argument.name));
    if (argument.kind == EmulatedArgument::Kind::Value) {
      parameters.push_back(argument.bytes.data());
      continue;
    }
    buffers.push_back(device.allocate(argument.bytes.size()));
    addresses.push_back(buffers.back().get());
    device.to_device(addresses.back(), argument.bytes.data(), argument.bytes.size());
    parameters.push_back(&addresses.back());
  }
  GpuRun run{description.name, 0};
  const auto time = [&](int count) {
    device.begin_time();
    for (int i = 0; i < count; ++i) device.launch(function, launch, parameters);
    return device.end_time() / count;
  };
  device.launch(function, launch, parameters);
  device.wait();
  run.seconds = time(1);
  run.seconds = time(int(std::clamp(std::ceil(kSampleSeconds / std::max(run.seconds, 1e-7)), 1.0, 1000.0)));
  auto address = addresses.begin();
  for (CheckedArgument& one : arguments) {
    if (one.argument.kind == EmulatedArgument::Kind::Value) continue;
    device.to_host(one.argument.bytes.data(), *address++, one.argument.bytes.size());
  }
  return run;
}

}  // namespace tunesmith::cuda
