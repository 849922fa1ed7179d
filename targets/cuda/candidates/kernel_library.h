// Writes a tuned program as files for a GPU: CUDA C++ with a C function that launches
// its kernels, the header of this function, and, if NVRTC is installed, a cubin.
#pragma once

#include "machine/architecture.h"
#include "tunesmith/target/packaging.h"

namespace tunesmith::cuda {

/// Writes <name>.cu (LibraryFiles::library) and <name>.h, with <name>.cubin and
/// the header that kernels with 16-bit floats include. Throws UserError for a
/// name that is no C identifier, EnvironmentError if a file cannot be written.
LibraryFiles write_library(const LibraryRequest& request, const Architecture& architecture);

}  // namespace tunesmith::cuda
