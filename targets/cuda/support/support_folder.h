// Where the files lie that are used when kernels are compiled.
#pragma once

#include <filesystem>

namespace tunesmith::cuda {

/// The folder with architectures.yaml, the device headers and the emulation's runtime: lib/tunesmith/cuda of
/// this installation, or what the environment variable TUNESMITH_CUDA_FOLDER names. Throws EnvironmentError
/// when it is not there.
std::filesystem::path support_folder();

}  // namespace tunesmith::cuda
