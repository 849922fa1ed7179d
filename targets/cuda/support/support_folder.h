// The folder of the files used for compiling kernels.
#pragma once

#include <filesystem>

namespace tunesmith::cuda {

/// The folder with architectures.yaml, the device headers and the emulation's runtime:
/// lib/tunesmith/cuda of this installation, or the folder named by the environment
/// variable TUNESMITH_CUDA_FOLDER. Throws EnvironmentError if it does not exist.
std::filesystem::path support_folder();

}  // namespace tunesmith::cuda
