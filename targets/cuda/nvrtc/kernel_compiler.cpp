#include "nvrtc/kernel_compiler.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "support/support_folder.h"
#include "tunesmith/support/error.h"

namespace tunesmith::cuda {
namespace {

constexpr const char* kDeviceHeader = "tunesmith_device.cuh";
constexpr const char* kSayResources = "--ptxas-options=-v";

std::string device_header() {
  const std::filesystem::path file = support_folder() / "device" / kDeviceHeader;
  std::ifstream stream(file);
  if (!stream) throw EnvironmentError(file.string() + " cannot be read");
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

}  // namespace

const KernelResources* Compilation::kernel(const std::string& name) const {
  const auto found = std::find_if(notes.kernels.begin(), notes.kernels.end(),
                                  [&](const KernelResources& kernel) { return kernel.name == name; });
  return found == notes.kernels.end() ? nullptr : &*found;
}

KernelCompiler::KernelCompiler(const Nvrtc& nvrtc, const CubinCache* cache)
    : nvrtc_(nvrtc), cache_(cache), headers_{{kDeviceHeader, device_header()}} {}

Compilation KernelCompiler::compile(const std::string& text, const std::string& name,
                                    const std::string& architecture,
                                    const std::vector<std::string>& options) const {
  Compilation compilation;
  compilation.architecture = architecture;
  std::vector<std::string> all{"-arch=" + architecture, "-std=c++17"};
  all.insert(all.end(), options.begin(), options.end());
  std::string key;
  if (cache_ != nullptr) {
    // The header is a part of the text.
    key = CubinCache::key(headers_.front().text + text, architecture, all, nvrtc_.version());
    if (std::optional<CubinCache::Entry> entry = cache_->find(key)) {
      compilation.succeeded = compilation.from_cache = true;
      compilation.log = std::move(entry->log);
      compilation.cubin = std::move(entry->cubin);
      compilation.notes = read_compile_log(compilation.log);
      return compilation;
    }
  }
  std::vector<std::string> verbose = all;
  verbose.push_back(kSayResources);
  Nvrtc::Output output = nvrtc_.compile(text, name, headers_, verbose);
  // With the resource report, the log may lack ptxas' error: compiles again without it.
  if (!output.succeeded && output.log.find("error") == std::string::npos) {
    const double first = output.cpu_seconds;
    output = nvrtc_.compile(text, name, headers_, all);
    output.cpu_seconds += first;
  }
  compilation.succeeded = output.succeeded;
  compilation.log = std::move(output.log);
  compilation.cubin = std::move(output.cubin);
  compilation.cpu_seconds = output.cpu_seconds;
  compilation.notes = read_compile_log(compilation.log);
  if (cache_ != nullptr && compilation.succeeded) cache_->store(key, {compilation.log, compilation.cubin});
  return compilation;
}

}  // namespace tunesmith::cuda
