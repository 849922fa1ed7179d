#include "nvrtc/disassembler.h"

#include <cstdlib>
#include <fstream>

#include <fmt/format.h>

#include "support/temporary_folder.h"
#include "tunesmith/process/run_process.h"
#include "tunesmith/support/error.h"

namespace tunesmith::cuda {
namespace {

constexpr double kDisassemblySeconds = 60;

}  // namespace

std::string find_disassembler() {
  const char* const chosen = std::getenv("TUNESMITH_NVDISASM");
  return find_in_path({chosen != nullptr && *chosen != '\0' ? chosen : "nvdisasm"});
}

std::string disassemble(const std::string& disassembler, const std::string& cubin) {
  const TemporaryFolder folder;
  const std::string file = folder.path() / "kernel.cubin";
  std::ofstream(file, std::ios::binary) << cubin;
  ProcessResult done =
      run_process({disassembler, "-c", file}, {kDisassemblySeconds, RunOptions::Errors::Apart});
  if (!done.end.succeeded())
    throw EnvironmentError(fmt::format(
        "{} {}: {}", disassembler,
        done.end.cause == ProcessEnd::Cause::TimedOut ? "does not end" : "refuses the code", done.errors));
  return std::move(done.output);
}

}  // namespace tunesmith::cuda
