// The version of everything that generates a program's code.
#pragma once

#include <string>

#include "nvrtc/nvrtc.h"

namespace tunesmith::cuda {

/// The version of this target's code generator, and that of NVRTC with its compiler and
/// assembler (ptxas); null: "none". The driver compiles nothing, since cubins are loaded,
/// and the host's compiler only makes emulated programs, whose times are modelled. One line.
std::string generator_fingerprint(const Nvrtc* nvrtc);

}  // namespace tunesmith::cuda
