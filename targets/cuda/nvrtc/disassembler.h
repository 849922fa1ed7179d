// Prints machine code by NVIDIA's disassembler, if installed.
#pragma once

#include <string>

namespace tunesmith::cuda {

/// The program named by the environment variable TUNESMITH_NVDISASM,
/// else `nvdisasm` in PATH; "" if there is none.
std::string find_disassembler();

/// The output of `disassembler` for all kernels of a cubin. Throws
/// EnvironmentError if it fails, or takes longer than a minute.
std::string disassemble(const std::string& disassembler, const std::string& cubin);

}  // namespace tunesmith::cuda
