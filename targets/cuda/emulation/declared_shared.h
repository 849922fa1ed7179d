// Shared memory that a kernel declares with its size, which the device's compiler bounds.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace tunesmith::cuda {

/// The static shared memory in an object file of kernel text (device/tunesmith_emulation.h)
/// in bytes, without alignment: of the functions `kernels` and those that they may call,
/// or, with other kernels in the file, only of declarations in `kernels` themselves. Throws
/// EnvironmentError if it is no object file for this machine.
size_t declared_shared_bytes(const std::filesystem::path& object, const std::vector<std::string>& kernels,
                             bool only_theirs);

}  // namespace tunesmith::cuda
