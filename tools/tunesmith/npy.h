// Files of single tensors as NumPy writes them.
#pragma once

#include <filesystem>

#include <tunesmith/verification/tensor.h>

namespace tunesmith::cli {

/// Little-endian, row-major; two bytes of no type (V2) are bf16. Throws UserError with the file's name.
Tensor read_npy(const std::filesystem::path& path);
/// Throws EnvironmentError.
void write_npy(const std::filesystem::path& path, const Tensor& tensor);

}  // namespace tunesmith::cli
