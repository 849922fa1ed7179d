#include "nvrtc/compile_log.h"

#include <algorithm>
#include <array>
#include <regex>
#include <sstream>

namespace tunesmith::cuda {
namespace {

// ptxas' notes on wgmma: instructions serialised; setmaxnreg ignored; a wait injected; an arrive injected.
constexpr std::array<const char*, 4> kSerialisations = {"wgmma.mma_async instructions are serialized",
                                                        "(C7508)", "(C7517)", "(C7519)"};

size_t number_before(const std::string& line, const char* what) {
  const std::regex pattern(std::string(R"((\d+) )") + what);
  std::smatch match;
  return std::regex_search(line, match, pattern) ? std::stoull(match[1]) : 0;
}

}  // namespace

CompileLog read_compile_log(const std::string& text) {
  CompileLog log;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    for (const char* note : kSerialisations)
      if (line.find(note) != std::string::npos) log.serialisations.push_back(line);
    static const std::regex entry("Compiling entry function '([^']+)'");
    std::smatch match;
    if (std::regex_search(line, match, entry)) log.kernels.push_back({match[1], 0, 0, 0, 0, 0});
    if (log.kernels.empty()) continue;
    KernelResources& kernel = log.kernels.back();
    if (line.find("bytes stack frame") != std::string::npos) {
      // Also of the functions that it calls.
      kernel.stack_bytes = std::max(kernel.stack_bytes, number_before(line, "bytes stack frame"));
      kernel.spill_store_bytes =
          std::max(kernel.spill_store_bytes, number_before(line, "bytes spill stores"));
      kernel.spill_load_bytes = std::max(kernel.spill_load_bytes, number_before(line, "bytes spill loads"));
    }
    if (line.find(" registers") != std::string::npos && line.find("Used ") != std::string::npos) {
      kernel.registers = unsigned(number_before(line, "registers"));
      kernel.static_shared_bytes = number_before(line, "bytes smem");
    }
  }
  return log;
}

}  // namespace tunesmith::cuda
