// Machine code as text, by NVIDIA's disassembler, where that is installed.
#pragma once

#include <string>

namespace tunesmith::cuda {

/// The program that the environment variable TUNESMITH_NVDISASM names, else `nvdisasm` in PATH; "" where
/// there is none.
std::string find_disassembler();

/// What `disassembler` prints of all kernels of a cubin. Throws EnvironmentError when it fails, or takes
/// longer than a minute.
std::string disassemble(const std::string& disassembler, const std::string& cubin);

}  // namespace tunesmith::cuda
