// Reads and writes tensors in NumPy's format, little-endian. Two untyped bytes (V2) are bf16.
#pragma once

#include <filesystem>

#include "tunesmith/verification/tensor.h"

namespace tunesmith {

/// Accepts both orders of elements. Throws UserError with the file's
/// name if it is damaged, truncated, or has an unsupported type.
Tensor read_npy(const std::filesystem::path& path);
/// Row-major, format version 1.0, written atomically. Throws EnvironmentError.
void write_npy(const std::filesystem::path& path, const Tensor& tensor);

}  // namespace tunesmith
