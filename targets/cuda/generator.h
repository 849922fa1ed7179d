// Of what makes the code of a program.
#pragma once

#include <string>

#include "nvrtc/nvrtc.h"

namespace tunesmith::cuda {

/// The version of this target's code generator, and that of NVRTC, which has the compiler and the assembler
/// (ptxas); null: "none". The driver compiles nothing, since cubins are loaded, and the compiler of the host
/// makes only what is emulated, whose time is a model's. One line.
std::string generator_fingerprint(const Nvrtc* nvrtc);

}  // namespace tunesmith::cuda
