// A library with NVRTC's functions whose cubins are programs for the emulation, for tests of the device `gpu`
// without NVRTC and a GPU.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <regex>
#include <set>
#include <sstream>

#include "cubin.h"
#include "emulation/emulated_kernel.h"

namespace {

using namespace tunesmith;

struct Program {
  std::string text, name, log, cubin;
};

/// More than any architecture has.
constexpr size_t kSharedBytes = size_t{256} << 10;

int compile(Program& program) {
  static const std::regex kernel(
      R"(__global__\s+void\s+(?:__launch_bounds__\([^)]*\)\s*)?(\w+)\s*\(([^)]*)\))");
  std::vector<fake_gpu::Kernel> kernels;
  for (auto match = std::sregex_iterator(program.text.begin(), program.text.end(), kernel);
       match != std::sregex_iterator(); ++match) {
    const std::string parameters = (*match)[2];
    cuda::EmulationOptions options;
    options.dynamic_shared_bytes = options.static_shared_bytes = kSharedBytes;
    const cuda::EmulatedKernel emulated(program.text, (*match)[1], program.name, options);
    if (!emulated.compiled()) {
      program.log = "error: " + emulated.log();
      return 6;
    }
    std::string kinds;
    std::istringstream list(parameters);
    for (std::string one; std::getline(list, one, ',');)
      if (one.find_first_not_of(" \n") != std::string::npos)
        kinds += one.find("TensorMap") != std::string::npos ? 'm'
                 : one.find('*') == std::string::npos       ? 'v'
                                                            : 'p';
    kernels.push_back({(*match)[1], kinds, emulated.program()});
    program.log += "ptxas info    : Compiling entry function '" + std::string((*match)[1]) +
                   "' for 'sm_80'\nptxas info    : Used 32 registers, 380 bytes cmem[0]\n";
  }
  program.cubin = fake_gpu::cubin_of(kernels);
  return 0;
}

/// Was this text compiled before? From 12.9 on, NVRTC then answers from its cache, without a log.
bool seen_before(const std::string& text) {
  static std::mutex mutex;
  static std::set<std::string> texts;
  const std::lock_guard lock(mutex);
  return !texts.insert(text).second;
}

}  // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED int nvrtcVersion(int* major, int* minor) {
  const char* chosen = std::getenv("TUNESMITH_FAKE_NVRTC_VERSION");
  if (chosen != nullptr) return std::sscanf(chosen, "%d.%d", major, minor) == 2 ? 0 : 1;
  *major = 13;
  *minor = 0;
  return 0;
}
EXPORTED int nvrtcCreateProgram(void** program, const char* text, const char* name, int, const char* const*,
                                const char* const*) {
  *program = new Program{text, name, {}, {}};
  return 0;
}
EXPORTED int nvrtcCompileProgram(void* program, int count, const char* const* options) {
  Program& one = *static_cast<Program*>(program);
  int major = 0, minor = 0;
  nvrtcVersion(&major, &minor);
  const bool caches = std::pair(major, minor) >= std::pair(12, 9);
  const bool no_cache = std::any_of(options, options + count,
                                    [](const char* option) { return option == std::string("--no-cache"); });
  if (no_cache && !caches) {
    one.log = "nvrtc: error: unrecognized option --no-cache found";
    return 5;
  }
  const int result = compile(one);
  if (seen_before(one.text) && caches && !no_cache) one.log.clear();
  return result;
}
EXPORTED int nvrtcGetProgramLogSize(void* program, size_t* bytes) {
  *bytes = static_cast<Program*>(program)->log.size() + 1;
  return 0;
}
EXPORTED int nvrtcGetProgramLog(void* program, char* log) {
  std::strcpy(log, static_cast<Program*>(program)->log.c_str());
  return 0;
}
EXPORTED int nvrtcGetCUBINSize(void* program, size_t* bytes) {
  *bytes = static_cast<Program*>(program)->cubin.size();
  return 0;
}
EXPORTED int nvrtcGetCUBIN(void* program, char* cubin) {
  const std::string& bytes = static_cast<Program*>(program)->cubin;
  std::memcpy(cubin, bytes.data(), bytes.size());
  return 0;
}
EXPORTED int nvrtcDestroyProgram(void** program) {
  delete static_cast<Program*>(*program);
  *program = nullptr;
  return 0;
}
