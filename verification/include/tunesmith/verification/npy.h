// Files of single tensors as NumPy writes them: little-endian. Two bytes of no type (V2) are bf16.
#pragma once

#include <filesystem>

#include "tunesmith/verification/tensor.h"

namespace tunesmith {

/// In either order of elements. Throws UserError with the file's name for what is damaged, cut off, or of a
/// type that Tunesmith has not.
Tensor read_npy(const std::filesystem::path& path);
/// Row-major, in the format's version 1.0; whole or not at all. Throws EnvironmentError.
void write_npy(const std::filesystem::path& path, const Tensor& tensor);

}  // namespace tunesmith
